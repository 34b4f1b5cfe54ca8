//! The mock for tests: where its library is, and what it is told.

#![expect(unsafe_code, reason = "loads the mock's library and calls its functions")]

use std::{
    env,
    ffi::{CString, c_char, c_void},
    fmt,
    os::unix::ffi::OsStrExt as _,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use crate::{
    Call, Fault, State,
    compute::{Compute, Request},
};

/// The file name of the mock's library.
const NAME: &str = "libnpugate_xrt_mock.so";

/// Why there is no mock to load.
#[derive(Debug)]
pub struct NotBuilt(String);

impl fmt::Display for NotBuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{NAME} cannot be had: {}; make npugate-xrt-mock a dev-dependency of the test",
            self.0
        )
    }
}

impl std::error::Error for NotBuilt {}

/// Where cargo put the mock's library: beside the test, whose dev-dependency it is.
///
/// # Errors
/// If it is not there.
pub fn path() -> Result<PathBuf, NotBuilt> {
    let test = env::current_exe().map_err(|error| NotBuilt(error.to_string()))?;
    let folders = test.ancestors().skip(1).take(2);
    let candidates: Vec<PathBuf> =
        folders.flat_map(|folder| [folder.join(NAME), folder.join("deps").join(NAME)]).collect();
    candidates
        .iter()
        .find(|path| path.is_file())
        .cloned()
        .ok_or_else(|| NotBuilt(format!("it is not beside {}", test.display())))
}

/// The mock, loaded: what this process's tests tell it.
pub struct Mock {
    library: libloading::Library,
}

impl Mock {
    /// Loads the mock's library: the same one that [`path`] names to others.
    ///
    /// # Errors
    /// If it is not there.
    pub fn load() -> Result<Self, NotBuilt> {
        // SAFETY: the mock's library does nothing when it is loaded.
        let library = unsafe { libloading::Library::new(path()?) }
            .map_err(|error| NotBuilt(error.to_string()))?;
        Ok(Self { library })
    }

    /// What runs of the program in this file compute, from now on and in every thread. The
    /// function stays for the process.
    ///
    /// # Errors
    /// If the path has a zero byte in it.
    pub fn set_compute<F>(&self, program: &Path, compute: F) -> Result<(), NotBuilt>
    where
        F: Fn(&Call<'_>) -> State + Send + Sync + 'static,
    {
        type Set = unsafe extern "C" fn(*const c_char, Option<Compute>, *mut c_void);

        /// Calls a test's function.
        unsafe extern "C" fn call<F: Fn(&Call<'_>) -> State>(
            context: *mut c_void,
            request: *const Request,
        ) -> i32 {
            // SAFETY: the context is the function that was leaked below, and the request is valid.
            let (compute, call) = unsafe { (&*context.cast::<F>(), Call::new(request)) };
            // A panic must not cross C: it is told by the panic hook, and the run fails.
            catch_unwind(AssertUnwindSafe(|| compute(&call))).unwrap_or(State::Error) as i32
        }

        let program = CString::new(program.as_os_str().as_bytes())
            .map_err(|error| NotBuilt(error.to_string()))?;
        let context = Box::into_raw(Box::new(compute));
        let set = self.function::<Set>("mock_set_compute")?;
        // SAFETY: the function has this type, and takes what it is promised.
        unsafe { set(program.as_ptr(), Some(call::<F>), context.cast()) };
        Ok(())
    }

    /// Orders faults for this thread, in place of those before; none for an empty list.
    ///
    /// # Errors
    /// If one is not a [`Fault`].
    pub fn fail(&self, faults: &[&str]) -> Result<(), NotBuilt> {
        type Fail = unsafe extern "C" fn(*const c_char);
        for fault in faults {
            fault.parse::<Fault>().map_err(|error| NotBuilt(format!("{error:?}")))?;
        }
        let text = CString::new(faults.join("\n")).map_err(|error| NotBuilt(error.to_string()))?;
        let fail = self.function::<Fail>("mock_fail")?;
        // SAFETY: the function has this type, and the text ends in a zero.
        unsafe { fail(text.as_ptr()) };
        Ok(())
    }

    /// What this thread has freed since the last call, in order: `run`, `buffer` and so on.
    ///
    /// # Errors
    /// If the library is another one.
    pub fn take_freed(&self) -> Result<Vec<String>, NotBuilt> {
        type Take = unsafe extern "C" fn(*mut u8, usize) -> usize;
        let take = self.function::<Take>("mock_take_freed")?;
        let mut bytes = vec![0; 4096];
        // SAFETY: the function has this type, and there are as many bytes as it is told.
        let len = unsafe { take(bytes.as_mut_ptr(), bytes.len()) };
        bytes.truncate(len);
        Ok(String::from_utf8_lossy(&bytes).split_whitespace().map(str::to_owned).collect())
    }

    fn function<T: Copy>(&self, name: &str) -> Result<T, NotBuilt> {
        // SAFETY: the callers name functions of this crate with their types.
        let symbol = unsafe { self.library.get::<T>(name) };
        symbol.map(|symbol| *symbol).map_err(|error| NotBuilt(error.to_string()))
    }
}

impl fmt::Debug for Mock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mock").finish_non_exhaustive()
    }
}
