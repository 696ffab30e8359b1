//! A small client, for tests and for tools that work without a VMM.
//!
//! It asks one question at a time.

use std::io::{self, IoSlice, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use zerocopy::{FromBytes, FromZeros as _, Immutable, IntoBytes, KnownLayout};

use crate::protocol::{
    DeviceInfo, DmaMap, DmaUnmap, Header, IrqInfo, IrqSet, MAX_FILES, MAX_PAYLOAD, RegionAccess,
    RegionInfo, Version, command, dma, flag, irq,
};

/// A connection of a client. Questions are asked one at a time.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    next: u16,
}

fn broken() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

impl Client {
    /// Connects to a server and agrees on the version.
    ///
    /// # Errors
    /// Those of the socket and of replies, here and below: an errno of a reply is an error of that number.
    pub fn connect(socket: &Path) -> io::Result<Self> {
        let mut client = Client::bare(UnixStream::connect(socket)?);
        let version = Version { major: 0, minor: 0 };
        let mut message = version.as_bytes().to_vec();
        message.extend_from_slice(b"{\"capabilities\":{\"max_msg_fds\":8}}\0");
        client.ask(command::VERSION, &message, &[])?;
        Ok(client)
    }

    /// A connection on which nothing has been said yet.
    #[must_use]
    pub fn bare(stream: UnixStream) -> Self {
        Client { stream, next: 0 }
    }

    /// The socket.
    #[must_use]
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Sends bytes with descriptors, as they are.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn send(&self, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2 * MAX_FILES))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() && !control.push(SendAncillaryMessage::ScmRights(files)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let iov = [IoSlice::new(bytes)];
        let sent = sendmsg(&self.stream, &iov, &mut control, SendFlags::NOSIGNAL)?;
        let mut stream = &self.stream;
        io::Write::write_all(&mut stream, bytes.get(sent..).unwrap_or_default())
    }

    /// Asks and waits for the reply, whose payload comes back.
    ///
    /// # Errors
    /// See [`Client::connect`].
    pub fn ask(
        &mut self,
        command: u16,
        payload: &[u8],
        files: &[BorrowedFd<'_>],
    ) -> io::Result<Vec<u8>> {
        self.next = self.next.wrapping_add(1);
        let header = Header {
            id: self.next,
            command,
            size: u32::try_from(size_of::<Header>() + payload.len()).map_err(|_| broken())?,
            flags: flag::COMMAND,
            error: 0,
        };
        let mut message = header.as_bytes().to_vec();
        message.extend_from_slice(payload);
        self.send(&message, files)?;
        let (reply, payload) = self.receive()?;
        if (reply.id, reply.command) != (header.id, command) {
            return Err(broken());
        }
        if reply.flags & flag::ERROR != 0 {
            let errno = i32::try_from(reply.error).map_err(|_| broken())?;
            return Err(io::Error::from_raw_os_error(errno));
        }
        Ok(payload)
    }

    /// The next message, whatever it is.
    ///
    /// # Errors
    /// Those of the socket; a size that cannot be.
    pub fn receive(&mut self) -> io::Result<(Header, Vec<u8>)> {
        let mut header = Header::new_zeroed();
        self.stream.read_exact(header.as_mut_bytes())?;
        let length = (header.size as usize).checked_sub(size_of::<Header>());
        let length = length.filter(|length| *length <= MAX_PAYLOAD);
        let mut payload = vec![0; length.ok_or_else(broken)?];
        self.stream.read_exact(&mut payload)?;
        Ok((header, payload))
    }

    fn question<T: IntoBytes + FromBytes + Immutable + KnownLayout>(
        &mut self,
        command: u16,
        question: &T,
    ) -> io::Result<T> {
        let reply = self.ask(command, question.as_bytes(), &[])?;
        T::read_from_bytes(&reply).map_err(|_| broken())
    }

    /// What the device is.
    ///
    /// # Errors
    /// See [`Client::connect`].
    pub fn device(&mut self) -> io::Result<DeviceInfo> {
        let question = DeviceInfo {
            argsz: size_of::<DeviceInfo>() as u32,
            ..DeviceInfo::new_zeroed()
        };
        self.question(command::DEVICE_GET_INFO, &question)
    }

    /// A region.
    ///
    /// # Errors
    /// See [`Client::connect`].
    pub fn region(&mut self, index: u32) -> io::Result<RegionInfo> {
        let question = RegionInfo {
            argsz: size_of::<RegionInfo>() as u32,
            index,
            ..RegionInfo::new_zeroed()
        };
        self.question(command::DEVICE_GET_REGION_INFO, &question)
    }

    /// The interrupts of a kind.
    ///
    /// # Errors
    /// See [`Client::connect`].
    pub fn irq(&mut self, index: u32) -> io::Result<IrqInfo> {
        let question = IrqInfo {
            argsz: size_of::<IrqInfo>() as u32,
            index,
            ..IrqInfo::new_zeroed()
        };
        self.question(command::DEVICE_GET_IRQ_INFO, &question)
    }

    /// Reads a region.
    ///
    /// # Errors
    /// See [`Client::connect`].
    pub fn read(&mut self, region: u32, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let access = RegionAccess {
            offset,
            region,
            count: u32::try_from(into.len()).map_err(|_| broken())?,
        };
        let reply = self.ask(command::REGION_READ, access.as_bytes(), &[])?;
        let (told, bytes) = RegionAccess::read_from_prefix(&reply).map_err(|_| broken())?;
        if told != access || bytes.len() != into.len() {
            return Err(broken());
        }
        into.copy_from_slice(bytes);
        Ok(())
    }

    /// Writes a region.
    ///
    /// # Errors
    /// See [`Client::connect`].
    pub fn write(&mut self, region: u32, offset: u64, from: &[u8]) -> io::Result<()> {
        let access = RegionAccess {
            offset,
            region,
            count: u32::try_from(from.len()).map_err(|_| broken())?,
        };
        let mut message = access.as_bytes().to_vec();
        message.extend_from_slice(from);
        let reply = self.ask(command::REGION_WRITE, &message, &[])?;
        if reply != access.as_bytes() {
            return Err(broken());
        }
        Ok(())
    }

    /// Reads a dword of a region.
    ///
    /// # Errors
    /// See [`Client::connect`].
    pub fn read32(&mut self, region: u32, offset: u64) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.read(region, offset, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Writes a dword of a region.
    ///
    /// # Errors
    /// See [`Client::connect`].
    pub fn write32(&mut self, region: u32, offset: u64, value: u32) -> io::Result<()> {
        self.write(region, offset, &value.to_le_bytes())
    }

    /// Lets the device access a part of a file at an address.
    ///
    /// # Errors
    /// See [`Client::connect`].
    pub fn map(
        &mut self,
        file: Option<BorrowedFd<'_>>,
        offset: u64,
        address: u64,
        size: u64,
    ) -> io::Result<()> {
        let map = DmaMap {
            argsz: size_of::<DmaMap>() as u32,
            flags: dma::READ | dma::WRITE,
            offset,
            address,
            size,
        };
        self.ask(command::DMA_MAP, map.as_bytes(), file.as_slice())?;
        Ok(())
    }

    /// Takes such memory away.
    ///
    /// # Errors
    /// See [`Client::connect`].
    pub fn unmap(&mut self, address: u64, size: u64) -> io::Result<()> {
        let unmap = DmaUnmap {
            argsz: size_of::<DmaUnmap>() as u32,
            flags: 0,
            address,
            size,
        };
        self.question(command::DMA_UNMAP, &unmap)?;
        Ok(())
    }

    /// Lets an eventfd be signalled by the first interrupt of a kind, or does something else with it.
    ///
    /// # Errors
    /// See [`Client::connect`].
    pub fn set_irq(
        &mut self,
        index: u32,
        action: u32,
        event: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let data = match event {
            Some(_) => irq::DATA_EVENTFD,
            None => irq::DATA_NONE,
        };
        let set = IrqSet {
            argsz: size_of::<IrqSet>() as u32,
            flags: data | action,
            index,
            start: 0,
            count: 1,
        };
        self.ask(command::DEVICE_SET_IRQS, set.as_bytes(), event.as_slice())?;
        Ok(())
    }

    /// Resets the device.
    ///
    /// # Errors
    /// See [`Client::connect`].
    pub fn reset(&mut self) -> io::Result<()> {
        self.ask(command::DEVICE_RESET, &[], &[])?;
        Ok(())
    }

    /// Whether the server has closed the connection.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let mut byte = [0];
        let peek = rustix::net::RecvFlags::PEEK;
        matches!(
            rustix::net::recv(self.stream.as_fd(), &mut byte, peek),
            Ok((0, _)) | Err(_)
        )
    }
}
