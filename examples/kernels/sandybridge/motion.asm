// Motion search: each thread takes a block of 16x16 pixels of one frame and looks for it in another, at most 8 pixels
// away, by the sum of absolute differences. Of equal sums the first counts, row by row.
//
//   r1  constants: none
//   r2  place of the thread: .0 x  .1 y  .2 width of the grid  .3 height  .4 number
//   surface 0: the frame (8 bits a pixel), surface 1: the frame before it
//   surface 2: a buffer with four dwords a block: sum, dx, dy, 0
// crestline media run examples/kernels/sandybridge/motion.asm --device sandybridge --in frame.png --in before.png --out vectors.bin,size=130560 --grid 120x68

.declare cur    g10<16,16,1>UB
.declare window g40<16,16,1>UB
.define  WINDOW 1280            // g40, in bytes
shl(1)          g3<1>D          g2<0,1,0>D      4D              { align1 };
shl(1)          g3.1<1>D        g2.1<0,1,0>D    4D              { align1 };
// The block: sixteen rows of 16 bytes, two in a register.
mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
mov(2)          m1<1>UD         g3<2,2,1>UD                     { align1 };
mov(1)          m1.2<1>UD       0x000f000fUD                    { align1 };
send(8)         cur<1>:UB       m1<8,8,1>UB     render MsgDesc: media block read MsgCtrl = 0x0 Surface = 0 mlen 1 rlen 8 header { align1 };
// The window: 32x32 bytes, a register a row, four blocks of eight rows.
add(1)          m1<1>D          g3<0,1,0>D      -8D             { align1 };
mov(1)          m1.2<1>UD       0x0007001fUD                    { align1 };
add(1)          m1.1<1>D        g3.1<0,1,0>D    -8D              { align1 };
send(8)         window+0<1>:UB  m1<8,8,1>UB     render MsgDesc: media block read MsgCtrl = 0x0 Surface = 1 mlen 1 rlen 8 header { align1 };
add(1)          m1.1<1>D        g3.1<0,1,0>D    0D              { align1 };
send(8)         window+8<1>:UB  m1<8,8,1>UB     render MsgDesc: media block read MsgCtrl = 0x0 Surface = 1 mlen 1 rlen 8 header { align1 };
add(1)          m1.1<1>D        g3.1<0,1,0>D    8D              { align1 };
send(8)         window+16<1>:UB m1<8,8,1>UB     render MsgDesc: media block read MsgCtrl = 0x0 Surface = 1 mlen 1 rlen 8 header { align1 };
add(1)          m1.1<1>D        g3.1<0,1,0>D    16D              { align1 };
send(8)         window+24<1>:UB m1<8,8,1>UB     render MsgDesc: media block read MsgCtrl = 0x0 Surface = 1 mlen 1 rlen 8 header { align1 };

// Candidates: a0 is the first byte of one in the window. g5.0 is the sum in the upper word, row and column in the lower.
mov(1)          a0<1>UW         WINDOW:UW                       { align1 };
mov(1)          g4<1>UD         0xffffffffUD                    { align1 };
mov(1)          g5<1>UD         0x00000000UD                    { align1 };
mov(1)          g6.1<1>D        17D                             { align1 };
DOWN:
mov(1)          g6<1>D          17D                             { align1 };
ACROSS:
// Each instruction adds the distances of sixteen pixels, two in a channel.
sad2(16)        acc0<1>UW       cur           g[a0]<16,16,1>UB        { align1 };
sada2(16)       acc0<1>UW       cur+0.16<16,16,1>:UB   g[a0 32]<16,16,1>UB    { align1 };
sada2(16)       acc0<1>UW       cur+1<16,16,1>:UB   g[a0 64]<16,16,1>UB    { align1 };
sada2(16)       acc0<1>UW       cur+1.16<16,16,1>:UB   g[a0 96]<16,16,1>UB    { align1 };
sada2(16)       acc0<1>UW       cur+2<16,16,1>:UB   g[a0 128]<16,16,1>UB    { align1 };
sada2(16)       acc0<1>UW       cur+2.16<16,16,1>:UB   g[a0 160]<16,16,1>UB    { align1 };
sada2(16)       acc0<1>UW       cur+3<16,16,1>:UB   g[a0 192]<16,16,1>UB    { align1 };
sada2(16)       acc0<1>UW       cur+3.16<16,16,1>:UB   g[a0 224]<16,16,1>UB    { align1 };
sada2(16)       acc0<1>UW       cur+4<16,16,1>:UB   g[a0 256]<16,16,1>UB    { align1 };
sada2(16)       acc0<1>UW       cur+4.16<16,16,1>:UB   g[a0 288]<16,16,1>UB    { align1 };
sada2(16)       acc0<1>UW       cur+5<16,16,1>:UB   g[a0 320]<16,16,1>UB    { align1 };
sada2(16)       acc0<1>UW       cur+5.16<16,16,1>:UB   g[a0 352]<16,16,1>UB    { align1 };
sada2(16)       acc0<1>UW       cur+6<16,16,1>:UB   g[a0 384]<16,16,1>UB    { align1 };
sada2(16)       acc0<1>UW       cur+6.16<16,16,1>:UB   g[a0 416]<16,16,1>UB    { align1 };
sada2(16)       acc0<1>UW       cur+7<16,16,1>:UB   g[a0 448]<16,16,1>UB    { align1 };
sada2(16)       g30<1>UW        cur+7.16<16,16,1>:UB   g[a0 480]<16,16,1>UB    { align1 };
// Eight sums in the even words: to four, to two, to one.
add(4)          g31<1>UW        g30<8,4,2>UW    g30.8<8,4,2>UW  { align1 };
add(2)          g31<1>UW        g31<2,2,1>UW    g31.2<2,2,1>UW  { align1 };
add(1)          g5.1<1>UW       g31<0,1,0>UW    g31.1<0,1,0>UW  { align1 };
cmp.l.f0.0(1)   null<1>UD       g5<0,1,0>UD     g4<0,1,0>UD     { align1 };
(+f0.0) mov(1)  g4<1>UD         g5<0,1,0>UD                     { align1 };
// One to the right.
add(1)          a0<1>UW         a0<0,1,0>UW     0x0001UW        { align1 };
add(1)          g5<1>UW         g5<0,1,0>UW     0x0001UW        { align1 };
add.nz.f0.0(1)  g6<1>D          g6<0,1,0>D      -1D             { align1 };
(+f0.0) jmpi(1) ACROSS                                          { align1 nomask };
// One down: a row of the window is 32 bytes.
add(1)          a0<1>UW         a0<0,1,0>UW     0x000fUW        { align1 };
add(1)          g5<1>UW         g5<0,1,0>UW     0x00efUW        { align1 };
add.nz.f0.0(1)  g6.1<1>D        g6.1<0,1,0>D    -1D             { align1 };
(+f0.0) jmpi(1) DOWN                                            { align1 nomask };

// The best one: an OWord at the number of the thread.
mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
mov(1)          m1.2<1>UD       g2.4<0,1,0>UD                   { align1 };
mov(8)          g7<1>D          0D                              { align1 };
mov(1)          g7<1>D          g4.1<0,1,0>UW                   { align1 };
mov(2)          g8<1>UB         g4<2,2,1>UB                     { align1 };
add(1)          g7.1<1>D        g8<0,1,0>UB     -8D             { align1 };
add(1)          g7.2<1>D        g8.1<0,1,0>UB   -8D             { align1 };
mov(8)          m2<1>D          g7<8,8,1>D                      { align1 };
send(8)         null<1>UW       m1<8,8,1>UW     render MsgDesc: OWORD block write MsgCtrl = 0x0 Surface = 2 mlen 2 rlen 0 header { align1 };
// The thread spawner wants to hear of every end of a root thread (PRM vol4 2.6.9).
mov(8)          m0<1>UD         g0<8,8,1>UD                     { align1 };
send(8)         null<1>UW       m0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };
