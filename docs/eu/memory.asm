// Reads 128 bits twice through the data port, adds one to each dword, writes them back.
// crestline eu run docs/eu/memory.asm --gen 4 --map 0x1000+64 --dump-mem 0x1000+32

// Header: r0 with the byte offset in dword 2 of the message (PRM vol4 5.10.2, OWord block; surface 255: no surface, memory itself).
mov(8)          m1<1>UD         0x00000000UD                    { align1 };
mov(1)          m1.2<1>UD       0x00001000UD                    { align1 };
send(8) 1       g10<1>UD        null<8,8,1>UD   read MsgDesc: OWord Block Read MsgCtrl = 0x2 Surface = 255 mlen 1 rlen 1 header { align1 };
add(8)          m2<1>UD         g10<8,8,1>UD    0x00000001UD    { align1 };
send(8) 1       null<1>UD       null<8,8,1>UD   write MsgDesc: OWord block write MsgCtrl = 0x2 Surface = 255 mlen 2 rlen 0 header { align1 };
// End of thread: a message to nobody.
send(8) 1       null<1>UD       null<8,8,1>UD   null MsgDesc: mlen 1 rlen 0 { align1 EOT };
