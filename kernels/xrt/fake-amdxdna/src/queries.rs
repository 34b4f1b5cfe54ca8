//! What the driver reports about itself: `GET_INFO`, `GET_ARRAY`, `VERSION`; and the power mode.

use crate::{
    contexts::Contexts,
    uapi::{Errno, GetArray, Info, Version},
    user,
};

/// The driver's version: 0.6 is the first that runs ELFs (preemption).
const DRIVER: [i32; 3] = [0, 6, 0];

/// Firmware 1.1.2.65 of an NPU4.
const FIRMWARE: [u32; 4] = [1, 1, 2, 65];

/// Columns and rows of an NPU2: one row of shim tiles, one of memory tiles, four of cores.
const COLUMNS: u16 = 8;
const ROWS: u16 = 6;

/// `GET_INFO`.
///
/// # Errors
/// `EOPNOTSUPP` for what the fake does not report: sensors, telemetry.
pub fn info(arg: &mut Info, contexts: &Contexts, power_mode: u8) -> Result<(), Errno> {
    let mut bytes: Vec<u8> = Vec::new();
    match arg.param {
        1 => aie_metadata(&mut bytes),
        2 => put32(&mut bytes, &[2, 0]),
        3 => {
            clock(&mut bytes, b"MP-NPU Clock", 1267);
            clock(&mut bytes, b"H Clock", 1800);
        }
        5 => {
            for (handle, context) in contexts.iter() {
                put32(&mut bytes, &[handle, 0, COLUMNS.into(), 0]);
                put64(&mut bytes, &[std::process::id().into()]);
                put64(&mut bytes, &[context.submitted, context.completed, 0, 0, 0]);
            }
        }
        8 => put32(&mut bytes, &FIRMWARE),
        9 => bytes.extend([power_mode, 0, 0, 0, 0, 0, 0, 0]),
        11 | 13 => bytes.extend([0; 8]),
        12 => put64(&mut bytes, &[1800, 50, 16, 0, contexts.iter().len() as u64]),
        _ => return Err(Errno::OPNOTSUPP),
    }
    bytes.truncate(arg.size as usize);
    if !bytes.is_empty() {
        user::write_bytes(arg.buffer, &bytes)?;
    }
    arg.size = bytes.len() as u32;
    Ok(())
}

/// `SET_STATE`: returns the new power mode, if that is what it sets.
///
/// # Errors
/// `EINVAL` for an unknown mode, `EOPNOTSUPP` for any other state.
pub fn set_state(arg: &Info) -> Result<u8, Errno> {
    if arg.param != 0 {
        return Err(Errno::OPNOTSUPP);
    }
    let mode: u8 = user::read(arg.buffer)?;
    if mode <= 4 { Ok(mode) } else { Err(Errno::INVAL) }
}

/// `GET_ARRAY`: the contexts; the list of errors is empty.
///
/// # Errors
/// `EFAULT` if there is room for an element, but no address.
pub fn array(arg: &mut GetArray, contexts: &Contexts) -> Result<(), Errno> {
    /// `sizeof(struct amdxdna_drm_hwctx_entry)`.
    const ELEMENT: usize = 144;
    let size = (arg.element_size as usize).min(ELEMENT);
    let mut count = 0;
    if arg.param == 0 {
        for (handle, context) in contexts.iter().take(arg.num_element as usize) {
            let mut bytes = Vec::with_capacity(ELEMENT);
            put32(&mut bytes, &[handle, 0, COLUMNS.into(), handle]);
            put64(&mut bytes, &[std::process::id().into(), context.submitted, context.completed]);
            bytes.resize(size, 0);
            user::write_bytes(arg.buffer + u64::from(count) * size as u64, &bytes)?;
            count += 1;
        }
    }
    (arg.element_size, arg.num_element) = (size as u32, count);
    Ok(())
}

/// `VERSION`.
///
/// # Errors
/// `EFAULT` if there is room for a text, but no address.
pub fn version(arg: &mut Version) -> Result<(), Errno> {
    [arg.major, arg.minor, arg.patch] = DRIVER;
    let put = |address: u64, room: &mut u64, text: &str| {
        let bytes = &text.as_bytes()[..text.len().min(*room as usize)];
        *room = text.len() as u64;
        if bytes.is_empty() { Ok(()) } else { user::write_bytes(address, bytes) }
    };
    put(arg.name, &mut arg.name_len, "amdxdna_accel_driver")?;
    put(arg.date, &mut arg.date_len, "0")?;
    put(arg.desc, &mut arg.desc_len, "AMD XDNA DRM implementation (fake)")
}

fn aie_metadata(bytes: &mut Vec<u8>) {
    put32(bytes, &[1024]);
    put16(bytes, &[COLUMNS, ROWS]);
    put32(bytes, &[2, 0]);
    // Rows, first row, DMA channels, locks, events of cores, memory tiles and shim tiles.
    for tile in [[4, 2, 2, 16, 128], [1, 1, 6, 64, 160], [1, 0, 2, 16, 110]] {
        put16(bytes, &tile);
        put16(bytes, &[0; 3]);
    }
}

fn clock(bytes: &mut Vec<u8>, name: &[u8], mhz: u32) {
    let end = bytes.len() + 16;
    bytes.extend(name);
    bytes.resize(end, 0);
    put32(bytes, &[mhz, 0]);
}

fn put16(bytes: &mut Vec<u8>, values: &[u16]) {
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

fn put32(bytes: &mut Vec<u8>, values: &[u32]) {
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

fn put64(bytes: &mut Vec<u8>, values: &[u64]) {
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(param: u32, room: usize) -> Result<Vec<u8>, Errno> {
        let mut contexts = Contexts::default();
        contexts.create(32, None).unwrap();
        let mut bytes = vec![0xaa; room];
        let mut arg = Info { param, size: room as u32, buffer: bytes.as_mut_ptr() as u64 };
        info(&mut arg, &contexts, 4)?;
        bytes.truncate(arg.size as usize);
        Ok(bytes)
    }

    /// Sizes: `sizeof` of the kernel's structures, by a C compiler on its header.
    #[test]
    fn answers_are_as_large_as_the_kernels() {
        for (param, size) in [(1, 64), (2, 8), (3, 48), (5, 64), (8, 16), (9, 8), (12, 40)] {
            assert_eq!(ask(param, 4096).unwrap().len(), size, "param {param}");
        }
    }

    #[test]
    fn an_answer_is_truncated_to_the_room_for_it() {
        assert_eq!(ask(8, 4).unwrap(), [1, 0, 0, 0]);
        assert_eq!(ask(8, 0).unwrap(), [0; 0]);
    }

    #[test]
    fn an_unknown_query_is_refused() {
        assert_eq!(ask(4, 4096), Err(Errno::OPNOTSUPP));
        let mode = [9_u8];
        let arg = Info { param: 0, size: 1, buffer: mode.as_ptr() as u64 };
        assert_eq!(set_state(&arg), Err(Errno::INVAL));
    }
}
