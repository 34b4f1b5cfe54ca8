use super::*;
use crate::{
    inputs::{Draw, draw},
    op::Op,
    rounding::Rounding,
    testing::{Case, Published, doubled_fails, floor_shows_in_the_mean_error},
};

#[test]
fn a_shape_key_says_what_is_rotated_where_that_is_not_all() {
    let rope = Rope { tokens: 256, heads: 24, head_dim: 128, rotary_dim: 128 };
    assert_eq!(rope.shape_key(), "t256_h24_d128");
    assert_eq!(Rope { rotary_dim: 96, ..rope }.shape_key(), "t256_h24_d128_r96");
}

#[test]
fn a_part_of_a_head_is_rotated_but_no_more_than_a_head() {
    let check = |rotary_dim| Rope { tokens: 4, heads: 2, head_dim: 128, rotary_dim }.check();
    assert_eq!((check(96), check(128)), (Ok(()), Ok(())));
    assert!(matches!(check(100), Err(OpError::NotMultiple { dimension: "rotary_dim", .. })));
    assert!(matches!(check(0), Err(OpError::Zero { dimension: "rotary_dim", .. })));
    let message = check(144).unwrap_err().to_string();
    assert_eq!(message, "rope t4_h2_d128_r144: rotary_dim = 144 is larger than head_dim = 128");
}

#[test]
fn the_table_holds_cosines_then_sines_of_each_position() {
    let rope = Rope { tokens: 3, heads: 2, head_dim: 32, rotary_dim: 16 };
    let lut = draw(&Op::Rope(rope), Draw::Registry { seed: 0 })[1].to_f32();
    // As wide as what is rotated, whose frequencies it has.
    assert_eq!(lut.len(), 3 * 16);
    assert_eq!(lut[..16], [[1.0; 8], [0.0; 8]].concat());
    // Position 2, frequency 0: cos 2 = -0.41615 and sin 2 = 0.90930, narrowed.
    assert_eq!((lut[32], lut[40]), (-0.416_015_63, 0.910_156_25));
    // Frequency 1 of 8: 500,000^(-1/8) = 0.193923; cos and sin of twice that.
    assert_eq!((lut[33], lut[41]), (0.925_781_25, 0.378_906_25));
}

#[test]
fn a_doubled_output_fails_although_its_cosine_is_one() {
    doubled_fails(Rope { tokens: 64, heads: 3, head_dim: 64, rotary_dim: 64 }, 0.9);
}

/// Pairs (2 i, 2 i + 1), as some checkpoints have them, in place of (i, i + half).
#[test]
fn an_interleaved_rope_fails_the_gate_that_the_half_split_one_passes() {
    let rope = Rope { tokens: 2048, heads: 3, head_dim: 64, rotary_dim: 64 };
    let case = Case::new(rope);
    case.passes(&case.run(Rounding::Floor));

    let (x, lut) = (case.inputs[0].to_f32(), case.inputs[1].to_f32());
    let half = rope.head_dim / 2;
    let mut interleaved = vec![0.0; x.len()];
    for (i, pair) in x.chunks(2).enumerate() {
        let (token, j) = (2 * i / (rope.heads * rope.head_dim), i % half);
        let (cos, sin) = (lut[token * rope.head_dim + j], lut[token * rope.head_dim + half + j]);
        interleaved[2 * i] = pair[0] * cos - pair[1] * sin;
        interleaved[2 * i + 1] = pair[0] * sin + pair[1] * cos;
    }
    case.fails(&interleaved, 0.7);
    // The registry reports a largest difference of about 7.8 between the two.
    let difference = |(y, r): (&f32, &f32)| (y - r).abs();
    let largest = interleaved.iter().zip(&case.reference).map(difference).fold(0.0, f32::max);
    assert!((6.5..9.0).contains(&largest), "{largest}");
}

#[test]
fn a_partial_rope_that_rotates_the_whole_head_is_caught() {
    let partial = Rope { tokens: 256, heads: 2, head_dim: 128, rotary_dim: 96 };
    let case = Case::new(partial);
    case.passes(&case.run(Rounding::Floor));
    let whole = Case::new(Rope { rotary_dim: 128, ..partial });
    let inputs = [case.inputs[0].clone(), whole.inputs[1].clone()];
    case.fails(&whole.run_on(Rounding::Floor, &inputs), 0.5);
}

/// With rounding to nearest a `RoPE` equals its reference bit for bit; with floor it is as far away
/// as silicon was. Both pass the tolerance: only the mean error tells them apart.
#[test]
fn floor_rounding_shows_in_the_mean_error() {
    let rope = Rope { tokens: 2048, heads: 1, head_dim: 64, rotary_dim: 64 };
    floor_shows_in_the_mean_error(rope, 2.8e-3);
}

#[test]
fn it_is_one_floor_away_from_its_reference() {
    for (tokens, within) in [(2048, 0.02), (256, 0.03)] {
        let rope = Rope { tokens, heads: 1, head_dim: 64, rotary_dim: 64 };
        Published { mean_rel_l1: 2.8e-3, within }.met_by(rope);
    }
}
