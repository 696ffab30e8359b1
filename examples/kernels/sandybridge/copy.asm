// Copy through the data port: each thread moves 128 bytes, whatever they mean.
//
//   r1  constants: none
//   r2  place of the thread: .0 x  .1 y  .2 width of the grid  .3 height  .4 number
//   surface 0: from, surface 1: to
// crestline media run examples/kernels/sandybridge/copy.asm --device sandybridge --in a.bin --out b.bin --grid 32x1

mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
shl(1)          m1.2<1>UD       g2.4<0,1,0>UD   0x00000003UD    { align1 };
// Eight OWords a thread; offsets count OWords here.
send(16)        g10<1>UW        m1<8,8,1>UW     render MsgDesc: OWORD block read MsgCtrl = 0x4 Surface = 0 mlen 1 rlen 4 header { align1 };
// The header is the same; what was read follows it. Reading g10 waits for the answer.
mov(8)          m2<1>UD         g10<8,8,1>UD                    { align1 };
mov(8)          m3<1>UD         g11<8,8,1>UD                    { align1 };
mov(8)          m4<1>UD         g12<8,8,1>UD                    { align1 };
mov(8)          m5<1>UD         g13<8,8,1>UD                    { align1 };
send(16)        null<1>UW       m1<8,8,1>UW     render MsgDesc: OWORD block write MsgCtrl = 0x4 Surface = 1 mlen 5 rlen 0 header { align1 };
// The thread spawner wants to hear of every end of a root thread (PRM vol4 2.6.9).
mov(8)          m0<1>UD         g0<8,8,1>UD                     { align1 };
send(8)         null<1>UW       m0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };
