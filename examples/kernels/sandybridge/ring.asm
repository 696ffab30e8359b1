// A ring of threads passes a token through the message gateway. The root thread starts children, learns from each of
// them where it is, tells each its successor, and sends the token around. Each child makes 3 token + number of it.
//
// 1 to 31 children, on each device: a GM965 has 32 slots, and the places in g100 to g103 are 31. With more the root waits
// for ever, and with 0 it counts down past 0. Places 17 and up share g102 and g103 with the token and the successor: they
// are read before the token moves, and the root has no use for g103.
//
//   r1  constants: .0 children, 1 to 31  .1 laps, from 1 on  .2 the token at first
//   r2  of the root: place of the thread; .7 is 0
//       of children: .0 number, from 1 on  .1 .2 where the root's gateway wants the child's place  .7 is 1
//   surface 0: four dwords: the token after all laps, laps, 0, 0
// crestline media run examples/kernels/sandybridge/ring.asm --device sandybridge --children --out token.bin,size=16 --grid 1x1 --curbe ud:5,3,1

.define KEY     4660            // 1234h
.define GATE    0x0c800200      // g100 to g103 (PRM vol4 7.1.2.1)
.define PLACES  3200            // g100 to g103, in bytes: where the children are
.define TOKEN   0x00400200      // a dword to g102
.define NEXT    0x00600200      // a dword to g103: where the successor is

// Everybody opens a gateway and knows it to be open before it is told of.
mov(8)          m1<1>UD         0UD                             { align1 };
mov(1)          m1.4<1>UD       KEY:UD                          { align1 };
mov(1)          m1.5<1>UD       GATE:UD                         { align1 };
send(8)         g9<1>UD         m1<8,8,1>UD     gateway MsgDesc: (open) mlen 1 rlen 1 ack { align1 };
mov(1)          g9<1>UD         g9<0,1,0>UD                     { align1 };
shl(1)          g6<1>UD         sr0<0,1,0>UW    16UD            { align1 };
add(1)          g6<1>UD         g6<0,1,0>UD     KEY:UD          { align1 };
// g11: a message to a gateway: data in .0, to whom in .4, what and where in .5.
mov(8)          g11<1>UD        0UD                             { align1 };
cmp.z.f0.0(1)   null<1>UD       g2.7<0,1,0>UD   1UD             { align1 };
(+f0.0) jmpi(1) CHILD                                           { align1 nomask };

// The root spawns children: payloads of 512 bits behind one another in its URB entry.
mov(8)          g21<1>UD        0UD                             { align1 };
mov(1)          g21.1<1>UD      g6<0,1,0>UD                     { align1 };
mov(1)          g21.2<1>UD      0x00000200UD                    { align1 };
mov(1)          g21.7<1>UD      1UD                             { align1 };
mov(1)          g7<1>UD         g0<0,1,0>UD                     { align1 };
mov(1)          g8<1>D          g1<0,1,0>D                      { align1 };
SPAWN:
add(1)          g7<1>UD         g7<0,1,0>UD     1UD             { align1 };
add(1)          g21<1>UD        g21<0,1,0>UD    1UD             { align1 };
mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
mov(1)          m1<1>UD         g7<0,1,0>UD                     { align1 };
mov(8)          m2<1>UD         g0<8,8,1>UD                     { align1 };
mov(8)          m3<1>UD         g21<8,8,1>UD                    { align1 };
send(8)         null<1>UD       m1<8,8,1>UD     urb MsgDesc: offset 0 urb_write used complete mlen 3 rlen 0 header { align1 };
mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
shl(1)          g7.1<1>UD       g7<0,1,0>UD     1UD             { align1 };
add(1)          m1.4<1>UD       g7.1<0,1,0>UD   1024UD          { align1 };
send(8)         null<1>UD       m1<8,8,1>UD     thread_spawner MsgDesc: mlen 1 rlen 0 spawn { align1 };
add(1)          g21.2<1>UD      g21.2<0,1,0>UD  0x00040000UD    { align1 };
// They announce themselves one after the other, in any order: their number decides where it is written.
wait(1)         n0<1>UD                                         { align1 };
add.nz.f0.0(1)  g8<1>D          g8<0,1,0>D      -1D             { align1 };
(+f0.0) jmpi(1) SPAWN                                           { align1 nomask };

// To each the place of the next one; to the last that of the root.
mov(1)          a0<1>UW         PLACES:UW                       { align1 };
mov(1)          g8<1>D          g1<0,1,0>D                      { align1 };
mov(1)          g11.5<1>UD      NEXT:UD                         { align1 };
TELL:
mov(1)          g11.4<1>UD      g[a0]<0,1,0>UD                  { align1 };
add(1)          a0<1>UW         a0<0,1,0>UW     4UW             { align1 };
mov(1)          g11<1>UD        g[a0]<0,1,0>UD                  { align1 };
cmp.z.f0.0(1)   null<1>D        g8<0,1,0>D      1D              { align1 };
(+f0.0) mov(1)  g11<1>UD        g6<0,1,0>UD                     { align1 };
mov(8)          m1<1>UD         g11<8,8,1>UD                    { align1 };
send(8)         null<1>UD       m1<8,8,1>UD     gateway MsgDesc: (forward msg) mlen 1 rlen 0 notify { align1 };
add.nz.f0.0(1)  g8<1>D          g8<0,1,0>D      -1D             { align1 };
(+f0.0) jmpi(1) TELL                                            { align1 nomask };

// The laps: what comes back to g102 goes out again.
mov(1)          g102<1>UD       g1.2<0,1,0>UD                   { align1 };
mov(1)          g8<1>D          g1.1<0,1,0>D                    { align1 };
mov(1)          g11.4<1>UD      g100<0,1,0>UD                   { align1 };
mov(1)          g11.5<1>UD      TOKEN:UD                        { align1 };
LAP:
mov(1)          g11<1>UD        g102<0,1,0>UD                   { align1 };
mov(8)          m1<1>UD         g11<8,8,1>UD                    { align1 };
send(8)         null<1>UD       m1<8,8,1>UD     gateway MsgDesc: (forward msg) mlen 1 rlen 0 notify { align1 };
wait(1)         n0<1>UD                                         { align1 };
add.nz.f0.0(1)  g8<1>D          g8<0,1,0>D      -1D             { align1 };
(+f0.0) jmpi(1) LAP                                             { align1 nomask };
mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
mov(1)          m1.2<1>UD       0UD                             { align1 };
mov(8)          m2<1>UD         0UD                             { align1 };
mov(1)          m2<1>UD         g102<0,1,0>UD                   { align1 };
mov(1)          m2.1<1>UD       g1.1<0,1,0>UD                   { align1 };
send(8)         null<1>UW       m1<8,8,1>UW     render MsgDesc: OWORD block write MsgCtrl = 0x0 Surface = 0 mlen 2 rlen 0 header { align1 };
mov(8)          m0<1>UD         g0<8,8,1>UD                     { align1 };
send(8)         null<1>UW       m0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 { align1 EOT };

CHILD:
// Here I am: to the root, at four bytes for each number.
mov(1)          g11<1>UD        g6<0,1,0>UD                     { align1 };
mov(2)          g11.4<1>UD      g2.1<2,2,1>UD                   { align1 };
mov(8)          m1<1>UD         g11<8,8,1>UD                    { align1 };
send(8)         null<1>UD       m1<8,8,1>UD     gateway MsgDesc: (forward msg) mlen 1 rlen 0 notify { align1 };
// The successor.
wait(1)         n0<1>UD                                         { align1 };
mov(1)          g11.4<1>UD      g103<0,1,0>UD                   { align1 };
mov(1)          g11.5<1>UD      TOKEN:UD                        { align1 };
mov(1)          g8<1>D          g1.1<0,1,0>D                    { align1 };
PASS:
wait(1)         n0<1>UD                                         { align1 };
mul(1)          g11<1>UD        g102<0,1,0>UD   3UW             { align1 };
add(1)          g11<1>UD        g11<0,1,0>UD    g2<0,1,0>UD     { align1 };
mov(8)          m1<1>UD         g11<8,8,1>UD                    { align1 };
send(8)         null<1>UD       m1<8,8,1>UD     gateway MsgDesc: (forward msg) mlen 1 rlen 0 notify { align1 };
add.nz.f0.0(1)  g8<1>D          g8<0,1,0>D      -1D             { align1 };
(+f0.0) jmpi(1) PASS                                            { align1 nomask };
mov(8)          m0<1>UD         g0<8,8,1>UD                     { align1 };
send(8)         null<1>UW       m0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 child resource { align1 EOT };
