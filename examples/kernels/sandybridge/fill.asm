// Memory fill: each thread writes 128 bytes of one value.
//
//   r1  constants: .0 the value
//   r2  place of the thread: .0 x  .1 y  .2 width of the grid  .3 height  .4 number
//   surface 0: the buffer
// crestline media run examples/kernels/sandybridge/fill.asm --device sandybridge --out fill.bin,size=4096 --grid 32x1 --curbe ud:0xdeadbeef

// Header: r0, offset in OWords in dword 2 (Mesa brw_eu_emit.c).
mov(8)          m0<1>UD         g0<8,8,1>UD                     { align1 };
shl(1)          m0.2<1>UD       g2.4<0,1,0>UD   0x00000003UD    { align1 };
mov(8)          m1<1>UD         g1<0,1,0>UD                     { align1 };
mov(8)          m2<1>UD         g1<0,1,0>UD                     { align1 };
mov(8)          m3<1>UD         g1<0,1,0>UD                     { align1 };
mov(8)          m4<1>UD         g1<0,1,0>UD                     { align1 };
// Eight OWords, which take sixteen channels: each dword has the bit of one.
send(16)        null<1>UW       m0<8,8,1>UW     render MsgDesc: OWORD block write MsgCtrl = 0x4 Surface = 0 mlen 5 rlen 0 header { align1 };
// The thread spawner wants to hear of every end of a root thread (PRM vol4 2.6.9).
mov(8)          m0<1>UD         g0<8,8,1>UD                     { align1 };
send(8)         null<1>UW       m0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };
