//! The port of an `eu-run` case: its words, and what becomes of messages.
//!
//! PRM: volume 4, 2.6. Shared functions are not there: a response is what the case says.

use std::collections::BTreeMap;

use eu::{Delivery, Grf, Message, Port};

/// A message as it was sent.
pub struct Sent {
    /// Text of the sideband: function, descriptor, mask.
    pub text: String,
    /// Payload registers.
    pub payload: Vec<Grf>,
}

/// Words and messages.
#[derive(Default)]
pub struct Bench {
    /// Instructions by address.
    pub code: BTreeMap<u32, [u32; 4]>,
    /// Dwords that messages answer with, in turn; zero after them.
    pub response: Vec<u32>,
    /// What becomes of the messages, the last one from then on.
    deliveries: Vec<Delivery>,
    /// Messages so far.
    pub sent: Vec<Sent>,
    answered: usize,
}

impl Bench {
    /// Words of a `deliver` statement.
    pub fn deliver(&mut self, words: &str) -> Result<(), String> {
        for word in words.split_whitespace() {
            self.deliveries.push(match word {
                "done" => Delivery::Done,
                "dropped" => Delivery::Dropped,
                "busy" => Delivery::Busy,
                _ => return Err(format!("unknown delivery `{word}`")),
            });
        }
        Ok(())
    }
}

impl Port for Bench {
    /// The address that holds no instruction.
    type Fault = u32;

    fn fetch(&mut self, ip: u32) -> Result<[u32; 4], u32> {
        self.code.get(&ip).copied().ok_or(ip)
    }

    fn send(&mut self, msg: &Message<'_>, response: &mut [Grf]) -> Result<Delivery, u32> {
        let nth = self.sent.len();
        let last = self.deliveries.last().copied().unwrap_or(Delivery::Done);
        let delivery = self.deliveries.get(nth).copied().unwrap_or(last);
        let eot = if msg.eot { " eot" } else { "" };
        self.sent.push(Sent {
            text: format!(
                "sfid {} desc {:#010x} mask {:04x} size {} mlen {} rlen {}{eot}",
                msg.sfid,
                msg.desc,
                msg.exec_mask,
                msg.exec_size,
                msg.payload.len(),
                msg.response_length,
            ),
            payload: msg.payload.to_vec(),
        });
        if delivery == Delivery::Done {
            for dword in response.as_flattened_mut() {
                *dword = self.response.get(self.answered).copied().unwrap_or(0);
                self.answered += 1;
            }
        }
        Ok(delivery)
    }
}
