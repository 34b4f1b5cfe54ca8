//! The mock, for tests: where its library is, and how to configure it.

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

/// Why the mock cannot be loaded.
#[derive(Debug)]
pub struct NotBuilt(String);

impl fmt::Display for NotBuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{NAME} cannot be loaded: {}; make npugate-xrt-mock a dev-dependency of the test",
            self.0
        )
    }
}

impl std::error::Error for NotBuilt {}

/// Where cargo put the mock's library: beside the test that has it as a dev-dependency.
///
/// # Errors
/// If it does not exist.
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

/// The loaded mock, for the tests of this process to configure.
pub struct Mock {
    library: libloading::Library,
}

impl Mock {
    /// Loads the mock's library from [`path`].
    ///
    /// # Errors
    /// If it does not exist.
    pub fn load() -> Result<Self, NotBuilt> {
        // SAFETY: the mock's library does nothing when it is loaded.
        let library = unsafe { libloading::Library::new(path()?) }
            .map_err(|error| NotBuilt(error.to_string()))?;
        Ok(Self { library })
    }

    /// Sets the function that computes the runs of the program in this file, from now on and in
    /// every thread, until the process ends.
    ///
    /// # Errors
    /// If the path contains a zero byte.
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
            // SAFETY: the context is the function that is leaked below, and the request is valid.
            let (compute, call) = unsafe { (&*context.cast::<F>(), Call::new(request)) };
            // A panic must not cross into C: the panic hook reports it, and the run fails.
            catch_unwind(AssertUnwindSafe(|| compute(&call))).unwrap_or(State::Error) as i32
        }

        let program = CString::new(program.as_os_str().as_bytes())
            .map_err(|error| NotBuilt(error.to_string()))?;
        let context = Box::into_raw(Box::new(compute));
        let set = self.function::<Set>("mock_set_compute")?;
        // SAFETY: the function has this type, and the arguments are what it requires.
        unsafe { set(program.as_ptr(), Some(call::<F>), context.cast()) };
        Ok(())
    }

    /// Sets the faults of this thread, and removes earlier ones.
    ///
    /// # Errors
    /// If a text is not a [`Fault`].
    pub fn fail(&self, faults: &[&str]) -> Result<(), NotBuilt> {
        type Fail = unsafe extern "C" fn(*const c_char);
        for fault in faults {
            fault.parse::<Fault>().map_err(|error| NotBuilt(format!("{error:?}")))?;
        }
        let text = CString::new(faults.join("\n")).map_err(|error| NotBuilt(error.to_string()))?;
        let fail = self.function::<Fail>("mock_fail")?;
        // SAFETY: the function has this type, and the text is zero-terminated.
        unsafe { fail(text.as_ptr()) };
        Ok(())
    }

    /// What this thread has freed since the last call, in order: `run`, `buffer` and so on.
    ///
    /// # Errors
    /// If the library is not the mock.
    pub fn take_freed(&self) -> Result<Vec<String>, NotBuilt> {
        type Take = unsafe extern "C" fn(*mut u8, usize) -> usize;
        let take = self.function::<Take>("mock_take_freed")?;
        let mut bytes = vec![0; 4096];
        // SAFETY: the function has this type, and the buffer has as many bytes as it is told.
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
