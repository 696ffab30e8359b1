//! The media pipeline of Sandy Bridge, not modelled: its objects are refused.
//!
//! genxml gen6 MEDIA_VFE_STATE, MEDIA_INTERFACE_DESCRIPTOR_LOAD, MEDIA_OBJECT. Not modelled: all of it.

use eu::Grf;
use mem::{Fault, Memory};

use crate::intel::r#gen::gen40::media::Reader as Gen40;
use crate::intel::media::reader::{MediaKernel, MediaObject, MediaReader, RootHeader, VfeState};
use crate::intel::shared::context::StateBases;

/// The reader: nobody asks it while objects are refused.
#[derive(Debug)]
pub struct Reader;

impl MediaReader for Reader {
    fn is_modelled(&self) -> bool {
        false
    }

    fn front_end(
        &self,
        mem: &Memory,
        bases: &StateBases,
        pointers: &[u32],
    ) -> Result<VfeState, Fault> {
        Gen40.front_end(mem, bases, pointers)
    }

    fn kernel(&self, mem: &Memory, bases: &StateBases, pointer: u32) -> Result<MediaKernel, Fault> {
        Gen40.kernel(mem, bases, pointer)
    }

    fn object<'a>(&self, command: &'a [u32]) -> MediaObject<'a> {
        Gen40.object(command)
    }

    fn root(&self, header: &RootHeader) -> Grf {
        Gen40.root(header)
    }

    fn flag(&self, r0: &mut Grf) {
        Gen40.flag(r0);
    }

    fn identifier(&self, object: u32, thread: u32) -> u32 {
        Gen40.identifier(object, thread)
    }
}
