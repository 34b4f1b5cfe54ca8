//! Memory that launches use one after another.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
};

/// Memory that launches use one after another, by its type: it grows to the largest that was asked
/// for and stays. A launch finds in it what the previous launch left there.
#[derive(Default)]
pub(crate) struct Scratch(HashMap<TypeId, Box<dyn Any + Send>>);

impl Scratch {
    /// The memory of type `T`.
    pub(crate) fn of<T: Any + Default + Send>(&mut self) -> &mut T {
        let memory = self.0.entry(TypeId::of::<T>()).or_insert_with(|| Box::<T>::default());
        match memory.downcast_mut() {
            Some(memory) => memory,
            None => unreachable!("it is kept under its type"),
        }
    }
}
