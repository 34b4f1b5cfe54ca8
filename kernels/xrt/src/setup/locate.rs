//! Where XRT's headers and library are. The build script includes this file too, so it uses nothing
//! from the rest of the crate.

use std::{
    env, fs, iter,
    path::{Path, PathBuf},
    process::Command,
};

/// A header that every XRT has.
const HEADER: &str = "xrt/xrt_device.h";

/// The headers that define the version, newest layout first.
const VERSIONS: [&str; 3] = ["xrt/detail/version-slim.h", "xrt/detail/version.h", "version.h"];

/// The library to link: its name in the development package, and its name without that package.
const LIBRARIES: [&str; 2] = ["libxrt_coreutil.so", "libxrt_coreutil.so.2"];

/// What a compiler needs of XRT.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Located {
    /// The folder with `xrt/xrt_device.h`.
    pub include: PathBuf,
    /// XRT's library.
    pub library: PathBuf,
    /// The major and minor version of the headers.
    pub version: (u32, u32),
}

/// What is missing from XRT.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Missing {
    /// The headers.
    Headers(Vec<PathBuf>),
    /// The library.
    Library(Vec<PathBuf>),
    /// The headers' version.
    Version(PathBuf),
}

/// Where to search, in order: folders of headers, each with the folders of its libraries.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Places {
    /// Folders of headers, each with the folders of its libraries.
    pub places: Vec<(PathBuf, Vec<PathBuf>)>,
}

impl Places {
    /// The machine's own: `NPUGATE_XRT_INCLUDE` and `NPUGATE_XRT_LIB`, `XILINX_XRT`,
    /// `/opt/xilinx/xrt`, `pkg-config xrt`, `/usr`. A folder that is passed in comes before all of
    /// these.
    pub fn of_this_machine(include: Option<&Path>, lib: Option<&Path>) -> Self {
        let given = |path: Option<&Path>, variable| {
            path.map(Path::to_owned).or_else(|| env::var_os(variable).map(PathBuf::from))
        };
        let include = given(include, "NPUGATE_XRT_INCLUDE");
        let lib = given(lib, "NPUGATE_XRT_LIB");
        let root = |root: PathBuf| {
            let libs = ["lib", "lib64"].map(|lib| root.join(lib)).to_vec();
            (root.join("include"), libs)
        };
        let mut places: Vec<_> =
            env::var_os("XILINX_XRT").map(|path| root(path.into())).into_iter().collect();
        places.push(root("/opt/xilinx/xrt".into()));
        places.extend(pkg_config());
        let usr = format!("/usr/lib/{}-linux-gnu", env::consts::ARCH);
        let usr = [usr.as_str(), "/usr/lib64", "/usr/lib"].map(PathBuf::from).to_vec();
        places.push(("/usr/include".into(), usr));

        if let Some(lib) = lib {
            for (_, libs) in &mut places {
                *libs = vec![lib.clone()];
            }
        }
        if let Some(include) = include {
            // The library for a given folder of headers is beside it, or in any of the usual
            // folders.
            let beside = ["lib", "lib64"].map(|lib| include.join("..").join(lib));
            let others = places.iter().flat_map(|(_, libs)| libs.clone());
            let libs = match places.first() {
                Some((_, libs)) if libs.len() == 1 => libs.clone(),
                _ => beside.into_iter().chain(others).collect(),
            };
            places = vec![(include, libs)];
        }
        Self { places }
    }

    /// The first place with headers, and its library.
    ///
    /// # Errors
    /// What is missing, and where it was searched for.
    pub fn find(&self) -> Result<Located, Missing> {
        let (include, libs) =
            self.places.iter().find(|(include, _)| include.join(HEADER).is_file()).ok_or_else(
                || Missing::Headers(self.places.iter().map(|place| place.0.clone()).collect()),
            )?;
        let version = VERSIONS
            .iter()
            .find_map(|header| version(&fs::read_to_string(include.join(header)).ok()?))
            .ok_or_else(|| Missing::Version(include.clone()))?;
        let library = libs
            .iter()
            .flat_map(|lib| LIBRARIES.iter().map(move |name| lib.join(name)))
            .find(|path| path.is_file())
            .ok_or_else(|| Missing::Library(libs.clone()))?;
        Ok(Located { include: include.clone(), library, version })
    }
}

impl Located {
    /// The folder to pass to the compiler. `None` if it is a default folder, since passing it would
    /// change the order in which the headers of C++ find those of C.
    pub fn include_flag(&self) -> Option<&Path> {
        let is_usual =
            fs::canonicalize(&self.include).is_ok_and(|path| path == Path::new("/usr/include"));
        (!is_usual).then_some(&*self.include)
    }
}

/// The folders that `pkg-config` knows.
fn pkg_config() -> Option<(PathBuf, Vec<PathBuf>)> {
    let variable = |name: &str| {
        let output = Command::new("pkg-config")
            .arg(format!("--variable={name}"))
            .arg("xrt")
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let text = text.trim();
        (output.status.success() && !text.is_empty()).then(|| PathBuf::from(text))
    };
    let lib = variable("libdir")?;
    let include = variable("includedir").or_else(|| Some(lib.parent()?.join("include")))?;
    Some((include, iter::once(lib).collect()))
}

/// The numbers in `#define XRT_VERSION_CODE XRT_VERSION(2, 25)`.
fn version(header: &str) -> Option<(u32, u32)> {
    let line = header.lines().find(|line| line.contains("define XRT_VERSION_CODE"))?;
    let (_, arguments) = line.split_once("XRT_VERSION(")?;
    let (major, minor) = arguments.split_once(')')?.0.split_once(',')?;
    Some((major.trim().parse().ok()?, minor.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    const DEVICE: (&str, &str) = ("include/xrt/xrt_device.h", "");
    // The lines of XRT 2.25.
    const VERSION: (&str, &str) = (
        "include/xrt/detail/version-slim.h",
        "#define XRT_VERSION(major, minor) ((major << 16) + (minor))\n\
         #define XRT_VERSION_CODE XRT_VERSION(2, 25)\n\
         #define XRT_MAJOR(code) ((code >> 16))\n",
    );

    fn places(root: &Path) -> Places {
        Places { places: vec![(root.join("include"), vec![root.join("lib"), root.join("lib64")])] }
    }

    #[test]
    fn headers_with_their_version_and_library_are_found() {
        let root = tree(&[DEVICE, VERSION, ("lib64/libxrt_coreutil.so.2", "")]);
        let found = places(root.path()).find().unwrap();
        assert_eq!(found.version, (2, 25));
        assert_eq!(found.library, root.path().join("lib64/libxrt_coreutil.so.2"));
        assert_eq!(found.include_flag(), Some(&*root.path().join("include")));
    }

    #[test]
    fn what_is_missing_is_reported_with_where_it_was_searched_for() {
        let root = tree(&[VERSION]);
        let include = root.path().join("include");
        assert_eq!(places(root.path()).find(), Err(Missing::Headers(vec![include.clone()])));

        let root = tree(&[DEVICE]);
        let include = root.path().join("include");
        assert_eq!(places(root.path()).find(), Err(Missing::Version(include)));

        let root = tree(&[DEVICE, VERSION]);
        let libs = vec![root.path().join("lib"), root.path().join("lib64")];
        assert_eq!(places(root.path()).find(), Err(Missing::Library(libs)));
    }

    #[test]
    fn a_given_folder_is_the_only_one_searched() {
        let places = Places::of_this_machine(Some(Path::new("/a")), Some(Path::new("/b")));
        assert_eq!(places.places, [("/a".into(), vec!["/b".into()])]);
        let places = Places::of_this_machine(Some(Path::new("/a/include")), None);
        let [(include, libs)] = places.places.as_slice() else { panic!("{places:?}") };
        assert_eq!(include, Path::new("/a/include"));
        assert_eq!(libs.first(), Some(&PathBuf::from("/a/include/../lib")));
    }

    #[test]
    fn without_given_folders_the_machine_is_searched_in_order() {
        let places = Places::of_this_machine(None, None).places;
        let at = |path: &str| places.iter().position(|place| place.0 == Path::new(path)).unwrap();
        assert!(at("/opt/xilinx/xrt/include") < at("/usr/include"));
        assert_eq!(at("/usr/include"), places.len() - 1);
    }
}
