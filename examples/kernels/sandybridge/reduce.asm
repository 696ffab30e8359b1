// Tree reduction: the sum of the dwords of a buffer. The root thread starts four children, each of them four more, and
// those add up the buffer. Sums go from child to parent through the message gateway.
//
//   r1  constants: .0 blocks of 128 bytes for each root thread
//   r2  of the root: place of the thread: .0 x  .1 y  .2 width of the grid  .3 height  .4 number
//       of children: .0 first block  .1 blocks  .2 .3 where the parent's gateway wants the sum  .7 level, 1 or 2
//   surface 0: the dwords, surface 1: for each root thread four dwords: the sum, 0, 0, 0
// crestline media run examples/kernels/sandybridge/reduce.asm --device sandybridge --children --in a.bin --out sum.bin,size=16 --grid 1x1 --curbe ud:32

.define KEY     23205           // 5aa5h: whoever knows it may write here
.define GATE    0x0c800000      // g100, where the sums come in: bits 28:21 (PRM vol4 7.1.2.1), one register
.define DWORD   0x00000200      // length of what is forwarded (7.1.4.1)
.define LEAF    2

mov(8)          g5<1>UD         g2<8,8,1>UD                     { align1 };
cmp.z.f0.0(1)   null<1>UD       g2.7<0,1,0>UD   LEAF:UD         { align1 };
(+f0.0) jmpi(1) ADD_UP                                          { align1 nomask };
cmp.z.f0.0(1)   null<1>UD       g2.7<0,1,0>UD   1UD             { align1 };
(+f0.0) jmpi(1) PARENT                                          { align1 nomask };
// The root's part of the buffer.
mov(1)          g5.1<1>UD       g1<0,1,0>UD                     { align1 };
mov(1)          g5.7<1>UD       0UD                             { align1 };
mul(1)          g5<1>UD         g1<0,1,0>UD     g2.8<0,1,0>UW   { align1 };

PARENT:
// Open the gateway, and know that it is open before anybody is told of it.
mov(8)          m1<1>UD         0UD                             { align1 };
mov(1)          m1.4<1>UD       KEY:UD                          { align1 };
mov(1)          m1.5<1>UD       GATE:UD                         { align1 };
send(8)         g9<1>UD         m1<8,8,1>UD     gateway MsgDesc: (open) mlen 1 rlen 1 ack { align1 };
mov(1)          g9<1>UD         g9<0,1,0>UD                     { align1 };
// Who this is: EU and thread, as a message to its gateway wants them (7.1.4.1). sr0 has them in that form.
shl(1)          g6<1>UD         sr0<0,1,0>UW    16UD            { align1 };
add(1)          g6<1>UD         g6<0,1,0>UD     KEY:UD          { align1 };
// A quarter for each child.
add(1)          g7<1>D          g5.1<0,1,0>D    3D              { align1 };
shr(1)          g7<1>UD         g7<0,1,0>UD     2UD             { align1 };
// r0 of the children is this one, but for the part of the URB that is theirs. Here follow four payloads of 512 bits,
// behind them those of the children's children.
mov(8)          g20<1>UD        g0<8,8,1>UD                     { align1 };
add(1)          g20<1>UD        g0<0,1,0>UD     4UD             { align1 };
mov(8)          g21<1>UD        0UD                             { align1 };
mov(1)          g21<1>UD        g5<0,1,0>UD                     { align1 };
mov(1)          g21.2<1>UD      g6<0,1,0>UD                     { align1 };
mov(1)          g21.3<1>UD      DWORD:UD                        { align1 };
add(1)          g21.7<1>UD      g5.7<0,1,0>UD   1UD             { align1 };
mov(1)          g8<1>D          4D                              { align1 };
mov(1)          g8.1<1>UD       g0<0,1,0>UD                     { align1 };
CHILD:
// Blocks that are left, at most a quarter.
cmp.l.f0.0(1)   null<1>D        g5.1<0,1,0>D    g7<0,1,0>D      { align1 };
(+f0.0) sel(1)  g21.1<1>D       g5.1<0,1,0>D    g7<0,1,0>D      { align1 };
add(1)          g5.1<1>D        g5.1<0,1,0>D    -g21.1<0,1,0>D  { align1 };
// Its payload into the URB: r0 and r2.
add(1)          g8.1<1>UD       g8.1<0,1,0>UD   1UD             { align1 };
mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
mov(1)          m1<1>UD         g8.1<0,1,0>UD                   { align1 };
mov(8)          m2<1>UD         g20<8,8,1>UD                    { align1 };
mov(8)          m3<1>UD         g21<8,8,1>UD                    { align1 };
send(8)         null<1>UD       m1<8,8,1>UD     urb MsgDesc: offset 0 urb_write used complete mlen 3 rlen 0 header { align1 };
// Spawn: interface descriptor in dword 2, first row and number of rows - 1 in dword 4. The rest is the child's r0.
mov(8)          m1<1>UD         g20<8,8,1>UD                    { align1 };
shl(1)          g8.2<1>UD       g8.1<0,1,0>UD   1UD             { align1 };
add(1)          m1.4<1>UD       g8.2<0,1,0>UD   1024UD          { align1 };
cmp.z.f0.0(1)   null<1>UD       g5.7<0,1,0>UD   0UD             { align1 };
(+f0.0) jmpi(1) FROM_ROOT                                       { align1 nomask };
send(8)         null<1>UD       m1<8,8,1>UD     thread_spawner MsgDesc: mlen 1 rlen 0 spawn child { align1 };
jmpi(1)         SPAWNED                                         { align1 nomask };
FROM_ROOT:
send(8)         null<1>UD       m1<8,8,1>UD     thread_spawner MsgDesc: mlen 1 rlen 0 spawn { align1 };
SPAWNED:
add(1)          g20<1>UD        g20<0,1,0>UD    4UD             { align1 };
add(1)          g21<1>UD        g21<0,1,0>UD    g7<0,1,0>UD     { align1 };
add(1)          g21.3<1>UD      g21.3<0,1,0>UD  0x00040000UD    { align1 };
add.nz.f0.0(1)  g8<1>D          g8<0,1,0>D      -1D             { align1 };
(+f0.0) jmpi(1) CHILD                                           { align1 nomask };
// Each sum comes with a notification.
wait(1)         n0<1>UD                                         { align1 };
wait(1)         n0<1>UD                                         { align1 };
wait(1)         n0<1>UD                                         { align1 };
wait(1)         n0<1>UD                                         { align1 };
add(2)          g10<1>UD        g100<2,2,1>UD   g100.2<2,2,1>UD { align1 };
add(1)          g10<1>UD        g10<0,1,0>UD    g10.1<0,1,0>UD  { align1 };
cmp.z.f0.0(1)   null<1>UD       g5.7<0,1,0>UD   0UD             { align1 };
(+f0.0) jmpi(1) RESULT                                          { align1 nomask };
jmpi(1)         TELL                                            { align1 nomask };

ADD_UP:
mov(8)          g10<1>UD        0UD                             { align1 };
cmp.le.f0.0(1)  null<1>D        g5.1<0,1,0>D    0D              { align1 };
(+f0.0) jmpi(1) TELL                                            { align1 nomask };
shl(1)          g6<1>UD         g5<0,1,0>UD     3UD             { align1 };
BLOCK:
mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
mov(1)          m1.2<1>UD       g6<0,1,0>UD                     { align1 };
// What lies behind the end of the buffer is read as 0.
send(16)        g12<1>UW        m1<8,8,1>UW     render MsgDesc: OWORD block read MsgCtrl = 0x4 Surface = 0 mlen 1 rlen 4 header { align1 };
add(8)          g10<1>UD        g10<8,8,1>UD    g12<8,8,1>UD    { align1 };
add(8)          g10<1>UD        g10<8,8,1>UD    g13<8,8,1>UD    { align1 };
add(8)          g10<1>UD        g10<8,8,1>UD    g14<8,8,1>UD    { align1 };
add(8)          g10<1>UD        g10<8,8,1>UD    g15<8,8,1>UD    { align1 };
add(1)          g6<1>UD         g6<0,1,0>UD     8UD             { align1 };
add.nz.f0.0(1)  g5.1<1>D        g5.1<0,1,0>D    -1D             { align1 };
(+f0.0) jmpi(1) BLOCK                                           { align1 nomask };
add(4)          g10<1>UD        g10<4,4,1>UD    g10.4<4,4,1>UD  { align1 };
add(2)          g10<1>UD        g10<2,2,1>UD    g10.2<2,2,1>UD  { align1 };
add(1)          g10<1>UD        g10<0,1,0>UD    g10.1<0,1,0>UD  { align1 };

TELL:
// The sum to the parent, and a notification; then the end. The URB entry is the root's to give back.
mov(8)          m1<1>UD         0UD                             { align1 };
mov(1)          m1<1>UD         g10<0,1,0>UD                    { align1 };
mov(2)          m1.4<1>UD       g2.2<2,2,1>UD                   { align1 };
send(8)         null<1>UD       m1<8,8,1>UD     gateway MsgDesc: (forward msg) mlen 1 rlen 0 notify { align1 };
mov(8)          m0<1>UD         g0<8,8,1>UD                     { align1 };
send(8)         null<1>UW       m0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 child resource { align1 EOT };

RESULT:
mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
mov(1)          m1.2<1>UD       g2.4<0,1,0>UD                   { align1 };
mov(8)          m2<1>UD         0UD                             { align1 };
mov(1)          m2<1>UD         g10<0,1,0>UD                    { align1 };
send(8)         null<1>UW       m1<8,8,1>UW     render MsgDesc: OWORD block write MsgCtrl = 0x0 Surface = 1 mlen 2 rlen 0 header { align1 };
// The end of a root with children gives the URB entry back.
mov(8)          m0<1>UD         g0<8,8,1>UD                     { align1 };
send(8)         null<1>UW       m0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 { align1 EOT };
