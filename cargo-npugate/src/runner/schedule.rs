//! Which model runs when. Models on a device that can be shared run in parallel, as many as
//! there are jobs. Models on an exclusive device run one after another, by one of the jobs,
//! while that job holds the device.

use super::stop::Stop;
use super::{
    Blocked, Consumer, Happening, ModelPlan, ModelResult, NoVerdict, RunError, RunOptions, Update,
    model,
};
use crate::lock::DeviceLock;
use npugate_schema::{Access, Holder};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

/// How often consumers are told that time has passed.
const TICK: Duration = Duration::from_millis(100);

/// Runs models, and reports to consumers what happens.
///
/// # Errors
///
/// A gate cannot be started, or its events cannot be followed. The run then ends.
pub fn run(
    plans: &[Arc<ModelPlan>],
    options: &RunOptions,
    consumers: &mut [&mut dyn Consumer],
) -> Result<Vec<ModelResult>, RunError> {
    let jobs = options.jobs.get().min(plans.len()).max(1);
    let queue = Queue::new(plans, jobs);
    let (sender, receiver) = mpsc::channel::<Update>();
    let results = thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs)
            .map(|index| {
                let (queue, sender) = (&queue, sender.clone());
                let lane = if index == 0 { Lane::Device } else { Lane::Shared };
                scope.spawn(move || work(lane, queue, options, &sender))
            })
            .collect();
        // Only the workers' own senders must keep the channel open.
        drop(sender);
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(update) => {
                    for consumer in &mut *consumers {
                        consumer.consume(&update);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            for consumer in &mut *consumers {
                consumer.tick();
            }
        }
        workers.into_iter().map(ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    let mut all = Vec::with_capacity(plans.len());
    for result in results {
        all.extend(result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
    }
    all.sort_by_key(|(index, _)| *index);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}

/// Which models a worker takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lane {
    /// Models on an exclusive device first, then any.
    Device,
    /// Models on a device that can be shared.
    Shared,
}

/// The models that are still to run.
struct Queue(Mutex<VecDeque<(usize, Arc<ModelPlan>)>>);

impl Queue {
    /// A queue in the order of the list if there is one worker. Otherwise models on an
    /// exclusive device come first, because they have to wait for each other.
    fn new(plans: &[Arc<ModelPlan>], jobs: usize) -> Self {
        let mut plans: Vec<_> = plans.iter().cloned().enumerate().collect();
        if jobs > 1 {
            plans.sort_by_key(|(_, plan)| plan.description.access == Access::Shared);
        }
        Self(Mutex::new(plans.into()))
    }

    fn take(&self, lane: Lane) -> Option<(usize, Arc<ModelPlan>)> {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let admits = |plan: &ModelPlan| match lane {
            Lane::Device => true,
            Lane::Shared => plan.description.access == Access::Shared,
        };
        let at = plans.iter().position(|(_, plan)| admits(plan))?;
        plans.remove(at)
    }
}

/// Runs models until there are none left.
fn work(
    lane: Lane,
    queue: &Queue,
    options: &RunOptions,
    sender: &Sender<Update>,
) -> Result<Vec<(usize, ModelResult)>, RunError> {
    let mut results = Vec::new();
    let mut held: Option<DeviceLock> = None;
    while let Some((index, plan)) = queue.take(lane) {
        let mut tell = |what| {
            // Nobody receives updates after the run has failed elsewhere.
            let _ = sender.send(Update { model: index, plan: plan.clone(), what });
        };
        let exclusive = plan.description.access == Access::Exclusive;
        if !exclusive {
            held = None;
        }
        let skip = match options.brake.stop() {
            Some(stop) => Some(Skip::Stopped(stop)),
            None if exclusive && held.is_none() => match acquire(options, &mut tell) {
                Ok(lock) => {
                    held = lock;
                    None
                }
                Err(skip) => Some(skip),
            },
            None => None,
        };
        let result = match skip {
            Some(skip) => skip.result(&plan, options, &mut tell),
            None => model::run(&plan, options, &mut tell)?,
        };
        results.push((index, result));
    }
    Ok(results)
}

/// Takes the lock on the device, if this run is to take it.
fn acquire(
    options: &RunOptions,
    tell: &mut dyn FnMut(Happening),
) -> Result<Option<DeviceLock>, Skip> {
    let waiting = |holder: Holder| tell(Happening::Waiting { holder });
    let wanted = || options.brake.stop().is_none();
    match options.lock.acquire(waiting, wanted) {
        Ok(lock) => Ok(lock),
        Err(error) => Err(match options.brake.stop() {
            Some(stop) => Skip::Stopped(stop),
            None => Skip::Unavailable(error.to_string()),
        }),
    }
}

/// Why a model does not run.
enum Skip {
    Stopped(Stop),
    Unavailable(String),
}

impl Skip {
    fn result(
        self,
        plan: &ModelPlan,
        options: &RunOptions,
        tell: &mut dyn FnMut(Happening),
    ) -> ModelResult {
        match self {
            Self::Stopped(stop) => model::not_run(plan, options, &stop.into()),
            Self::Unavailable(reason) => {
                let blocked = Blocked::Device(reason);
                let result = model::not_run(plan, options, &blocked.clone().into());
                let result = ModelResult { blocked: Some(blocked), ..result };
                tell(Happening::Finished { result: Arc::new(result.clone()) });
                result
            }
        }
    }
}

/// The result of a model whose device is missing.
pub fn without_device(plan: &ModelPlan, options: &RunOptions) -> ModelResult {
    let reason = plan.description.missing().unwrap_or_default();
    model::not_run(plan, options, &NoVerdict::NoDevice(reason.to_owned()))
}
