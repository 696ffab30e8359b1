//! stub
#[derive(Default)]
pub struct Blt;
impl Blt {
    pub fn execute(&mut self, _d: &[u32], _m: &mut mem::Memory) -> Result<(), crate::UnitFault> {
        Ok(())
    }
}
pub fn is_blt(_id: regs::gen40::CommandId) -> bool {
    false
}
