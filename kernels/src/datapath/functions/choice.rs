//! What all replaceable functions have in common: three choices and their names.

use super::TableError;

/// Text that does not name a choice of a function.
#[derive(Debug, thiserror::Error)]
pub enum FunctionError {
    /// None of the names.
    #[error("choose `hardware`, `exact` or `table:PATH`")]
    Unknown,
    /// A table that cannot be used.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// Declares a function that may be the hardware's, exact or a table's, read and written as
/// `hardware`, `exact` and `table:PATH`.
macro_rules! function {
    ($(#[$doc:meta])* $function:ident { $(#[$hardware:meta])* Hardware, $(#[$exact:meta])* Exact,
        $(#[$table:meta])* Table $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Debug, Default)]
        pub enum $function {
            $(#[$hardware])*
            #[default]
            Hardware,
            $(#[$exact])*
            Exact,
            $(#[$table])*
            Table(Bf16Table),
        }

        impl $function {
            /// The table, if it is one.
            pub fn table(&self) -> Option<&Bf16Table> {
                match self {
                    Self::Hardware | Self::Exact => None,
                    Self::Table(table) => Some(table),
                }
            }
        }

        impl std::str::FromStr for $function {
            type Err = FunctionError;

            /// Reads the table, if it names one.
            fn from_str(text: &str) -> Result<Self, FunctionError> {
                match (text, text.split_once(':')) {
                    ("hardware", _) => Ok(Self::Hardware),
                    ("exact", _) => Ok(Self::Exact),
                    (_, Some(("table", path))) if !path.is_empty() => {
                        Ok(Self::Table(Bf16Table::read(path)?))
                    }
                    _ => Err(FunctionError::Unknown),
                }
            }
        }

        impl std::fmt::Display for $function {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    Self::Hardware => f.pad("hardware"),
                    Self::Exact => f.pad("exact"),
                    Self::Table(table) => write!(f, "table:{table}"),
                }
            }
        }
    };
}

pub(super) use function;
