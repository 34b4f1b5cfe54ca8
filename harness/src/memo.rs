//! Results that were computed once and are kept for later use, by their type and a number.

use crate::measured::Stop;
use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::Arc,
};

/// How many results of one type are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keep {
    /// Everything.
    All,
    /// Only the last one: it is large, and its users run one after the other.
    Last,
}

type Kept = Result<Arc<dyn Any + Send + Sync>, Stop>;

/// What was computed, and what could not be computed.
#[derive(Default)]
pub(crate) struct Memo(HashMap<(TypeId, usize), Kept>);

impl Memo {
    /// What is kept of a type under a key.
    pub fn get<T: Send + Sync + 'static>(&self, key: usize) -> Option<Result<Arc<T>, Stop>> {
        match self.0.get(&(TypeId::of::<T>(), key))? {
            Ok(value) => value.clone().downcast().ok().map(Ok),
            Err(stop) => Some(Err(stop.clone())),
        }
    }

    /// Keeps what was computed.
    pub fn insert<T: Send + Sync + 'static>(
        &mut self,
        key: usize,
        computed: &Result<Arc<T>, Stop>,
        keep: Keep,
    ) {
        let id = TypeId::of::<T>();
        if keep == Keep::Last {
            self.0.retain(|(other, _), _| *other != id);
        }
        let computed = computed.clone().map(|value| value as Arc<dyn Any + Send + Sync>);
        self.0.insert((id, key), computed);
    }

    /// Forgets what is kept of a type under a key.
    pub fn forget<T: 'static>(&mut self, key: usize) {
        self.0.remove(&(TypeId::of::<T>(), key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_by_type_and_key_until_they_are_forgotten() {
        let mut memo = Memo::default();
        memo.insert(0, &Ok(Arc::new(7u32)), Keep::All);
        memo.insert(1, &Ok(Arc::new(8u32)), Keep::All);
        memo.insert(0, &Ok(Arc::new("seven")), Keep::All);
        assert_eq!(memo.get(0), Some(Ok(Arc::new(7u32))));
        assert_eq!(memo.get(1), Some(Ok(Arc::new(8u32))));
        assert_eq!(memo.get(0), Some(Ok(Arc::new("seven"))));
        memo.forget::<u32>(0);
        assert_eq!(memo.get::<u32>(0), None);
        assert_eq!(memo.get(0), Some(Ok(Arc::new("seven"))));
    }

    #[test]
    fn only_the_last_of_a_large_type_is_kept_and_errors_are_kept_like_values() {
        let mut memo = Memo::default();
        memo.insert(0, &Ok(Arc::new(7u32)), Keep::Last);
        let stop = Stop::Fail("it fell over".to_owned());
        memo.insert::<u32>(1, &Err(stop.clone()), Keep::Last);
        assert_eq!(memo.get::<u32>(0), None);
        assert_eq!(memo.get::<u32>(1), Some(Err(stop)));
    }
}
