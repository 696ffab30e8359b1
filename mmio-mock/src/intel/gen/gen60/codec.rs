//! Commands of Sandy Bridge's video codec with opcodes of the media pipeline.
//!
//! genxml gen6, but for MFX_SURFACE_STATE, whose opcode there is that of no command of the codec: intel-vaapi-driver i965_defines.h
//! has MFX(2, 0, 0, 1). The codec's other commands are in the tables. Not modelled: what they do.

use crate::intel::cs::engine::OwnCommand;

const fn command(name: &'static str, opcode: u16) -> OwnCommand {
    OwnCommand {
        name,
        opcode,
        cite: "genxml gen6, engine video",
    }
}

/// Those of the video ring.
pub const COMMANDS: &[OwnCommand] = &[
    command("MFX_PIPE_MODE_SELECT", 0x7000),
    command("MFX_SURFACE_STATE", 0x7001),
    command("MFX_PIPE_BUF_ADDR_STATE", 0x7002),
    command("MFX_IND_OBJ_BASE_ADDR_STATE", 0x7003),
    command("MFX_BSP_BUF_BASE_ADDR_STATE", 0x7004),
    command("MFX_AVC_IMG_STATE", 0x7100),
    command("MFX_AVC_DIRECTMODE_STATE", 0x7102),
    command("MFX_AVC_SLICE_STATE", 0x7103),
];
