// 3x3 blur of an 8-bit image with the weights 1 2 1 / 2 4 2 / 1 2 1, rounded: each thread makes 16x8 pixels.
//
//   r1  constants: none
//   r2  place of the thread: .0 x  .1 y  .2 width of the grid  .3 height  .4 number
//   surface 0: the image, surface 1: the blurred image
// Pixels outside of the image are those at its edge: media blocks repeat them (PRM vol4 5.6.1).
// crestline media run examples/kernels/sandybridge/blur.asm --device sandybridge --in a.png,format=r8 --out b.png --grid 120x135

.declare rows   g10<16,16,1>UB
// Place of the first pixel, and the header of a media block: x and y in bytes and rows, size - 1 (PRM vol4 5.10.4.2).
shl(1)          g3<1>D          g2<0,1,0>D      4D              { align1 };
shl(1)          g3.1<1>D        g2.1<0,1,0>D    3D              { align1 };
// Ten rows of 24 bytes around the block. x has to be a multiple of 4, so four come before it and not one.
mov(8)          m1<1>UD         g0<8,8,1>UD                     { align1 };
add(1)          m1<1>D          g3<0,1,0>D      -4D             { align1 };
add(1)          m1.1<1>D        g3.1<0,1,0>D    -1D             { align1 };
mov(1)          m1.2<1>UD       0x00070017UD                    { align1 };
// Rows of 17 to 32 bytes have a register each, and a block of them has up to eight.
send(8)         rows<1>:UB      m1<8,8,1>UB     render MsgDesc: media block read MsgCtrl = 0x0 Surface = 0 mlen 1 rlen 8 header { align1 };
add(1)          m1.1<1>D        g3.1<0,1,0>D    7D              { align1 };
mov(1)          m1.2<1>UD       0x00010017UD                    { align1 };
send(8)         rows+8<1>:UB    m1<8,8,1>UB     render MsgDesc: media block read MsgCtrl = 0x0 Surface = 0 mlen 1 rlen 2 header { align1 };

// Across: left + right + 2 middle, in words.
add(16)         g20<1>UW       g10.3<16,16,1>UB  g10.5<16,16,1>UB    { align1 };
add(16)         g20<1>UW       g20<16,16,1>UW   g10.4<16,16,1>UB    { align1 };
add(16)         g20<1>UW       g20<16,16,1>UW   g10.4<16,16,1>UB    { align1 };
add(16)         g21<1>UW       g11.3<16,16,1>UB  g11.5<16,16,1>UB    { align1 };
add(16)         g21<1>UW       g21<16,16,1>UW   g11.4<16,16,1>UB    { align1 };
add(16)         g21<1>UW       g21<16,16,1>UW   g11.4<16,16,1>UB    { align1 };
add(16)         g22<1>UW       g12.3<16,16,1>UB  g12.5<16,16,1>UB    { align1 };
add(16)         g22<1>UW       g22<16,16,1>UW   g12.4<16,16,1>UB    { align1 };
add(16)         g22<1>UW       g22<16,16,1>UW   g12.4<16,16,1>UB    { align1 };
add(16)         g23<1>UW       g13.3<16,16,1>UB  g13.5<16,16,1>UB    { align1 };
add(16)         g23<1>UW       g23<16,16,1>UW   g13.4<16,16,1>UB    { align1 };
add(16)         g23<1>UW       g23<16,16,1>UW   g13.4<16,16,1>UB    { align1 };
add(16)         g24<1>UW       g14.3<16,16,1>UB  g14.5<16,16,1>UB    { align1 };
add(16)         g24<1>UW       g24<16,16,1>UW   g14.4<16,16,1>UB    { align1 };
add(16)         g24<1>UW       g24<16,16,1>UW   g14.4<16,16,1>UB    { align1 };
add(16)         g25<1>UW       g15.3<16,16,1>UB  g15.5<16,16,1>UB    { align1 };
add(16)         g25<1>UW       g25<16,16,1>UW   g15.4<16,16,1>UB    { align1 };
add(16)         g25<1>UW       g25<16,16,1>UW   g15.4<16,16,1>UB    { align1 };
add(16)         g26<1>UW       g16.3<16,16,1>UB  g16.5<16,16,1>UB    { align1 };
add(16)         g26<1>UW       g26<16,16,1>UW   g16.4<16,16,1>UB    { align1 };
add(16)         g26<1>UW       g26<16,16,1>UW   g16.4<16,16,1>UB    { align1 };
add(16)         g27<1>UW       g17.3<16,16,1>UB  g17.5<16,16,1>UB    { align1 };
add(16)         g27<1>UW       g27<16,16,1>UW   g17.4<16,16,1>UB    { align1 };
add(16)         g27<1>UW       g27<16,16,1>UW   g17.4<16,16,1>UB    { align1 };
add(16)         g28<1>UW       g18.3<16,16,1>UB  g18.5<16,16,1>UB    { align1 };
add(16)         g28<1>UW       g28<16,16,1>UW   g18.4<16,16,1>UB    { align1 };
add(16)         g28<1>UW       g28<16,16,1>UW   g18.4<16,16,1>UB    { align1 };
add(16)         g29<1>UW       g19.3<16,16,1>UB  g19.5<16,16,1>UB    { align1 };
add(16)         g29<1>UW       g29<16,16,1>UW   g19.4<16,16,1>UB    { align1 };
add(16)         g29<1>UW       g29<16,16,1>UW   g19.4<16,16,1>UB    { align1 };

// Down: upper + lower + 2 middle, rounded; the low bytes of the words are the pixels.
add(16)         g30<1>UW       g20<16,16,1>UW   g22<16,16,1>UW    { align1 };
add(16)         g30<1>UW       g30<16,16,1>UW   g21<16,16,1>UW    { align1 };
add(16)         g30<1>UW       g30<16,16,1>UW   g21<16,16,1>UW    { align1 };
add(16)         g30<1>UW       g30<16,16,1>UW   0x0008UW             { align1 };
shr(16)         g30<1>UW       g30<16,16,1>UW   0x0004UW             { align1 };
mov(16)         m6<1>UB        g30<32,16,2>UB                        { align1 };
add(16)         g31<1>UW       g21<16,16,1>UW   g23<16,16,1>UW    { align1 };
add(16)         g31<1>UW       g31<16,16,1>UW   g22<16,16,1>UW    { align1 };
add(16)         g31<1>UW       g31<16,16,1>UW   g22<16,16,1>UW    { align1 };
add(16)         g31<1>UW       g31<16,16,1>UW   0x0008UW             { align1 };
shr(16)         g31<1>UW       g31<16,16,1>UW   0x0004UW             { align1 };
mov(16)         m6.16<1>UB     g31<32,16,2>UB                        { align1 };
add(16)         g32<1>UW       g22<16,16,1>UW   g24<16,16,1>UW    { align1 };
add(16)         g32<1>UW       g32<16,16,1>UW   g23<16,16,1>UW    { align1 };
add(16)         g32<1>UW       g32<16,16,1>UW   g23<16,16,1>UW    { align1 };
add(16)         g32<1>UW       g32<16,16,1>UW   0x0008UW             { align1 };
shr(16)         g32<1>UW       g32<16,16,1>UW   0x0004UW             { align1 };
mov(16)         m7<1>UB        g32<32,16,2>UB                        { align1 };
add(16)         g33<1>UW       g23<16,16,1>UW   g25<16,16,1>UW    { align1 };
add(16)         g33<1>UW       g33<16,16,1>UW   g24<16,16,1>UW    { align1 };
add(16)         g33<1>UW       g33<16,16,1>UW   g24<16,16,1>UW    { align1 };
add(16)         g33<1>UW       g33<16,16,1>UW   0x0008UW             { align1 };
shr(16)         g33<1>UW       g33<16,16,1>UW   0x0004UW             { align1 };
mov(16)         m7.16<1>UB     g33<32,16,2>UB                        { align1 };
add(16)         g34<1>UW       g24<16,16,1>UW   g26<16,16,1>UW    { align1 };
add(16)         g34<1>UW       g34<16,16,1>UW   g25<16,16,1>UW    { align1 };
add(16)         g34<1>UW       g34<16,16,1>UW   g25<16,16,1>UW    { align1 };
add(16)         g34<1>UW       g34<16,16,1>UW   0x0008UW             { align1 };
shr(16)         g34<1>UW       g34<16,16,1>UW   0x0004UW             { align1 };
mov(16)         m8<1>UB        g34<32,16,2>UB                        { align1 };
add(16)         g35<1>UW       g25<16,16,1>UW   g27<16,16,1>UW    { align1 };
add(16)         g35<1>UW       g35<16,16,1>UW   g26<16,16,1>UW    { align1 };
add(16)         g35<1>UW       g35<16,16,1>UW   g26<16,16,1>UW    { align1 };
add(16)         g35<1>UW       g35<16,16,1>UW   0x0008UW             { align1 };
shr(16)         g35<1>UW       g35<16,16,1>UW   0x0004UW             { align1 };
mov(16)         m8.16<1>UB     g35<32,16,2>UB                        { align1 };
add(16)         g36<1>UW       g26<16,16,1>UW   g28<16,16,1>UW    { align1 };
add(16)         g36<1>UW       g36<16,16,1>UW   g27<16,16,1>UW    { align1 };
add(16)         g36<1>UW       g36<16,16,1>UW   g27<16,16,1>UW    { align1 };
add(16)         g36<1>UW       g36<16,16,1>UW   0x0008UW             { align1 };
shr(16)         g36<1>UW       g36<16,16,1>UW   0x0004UW             { align1 };
mov(16)         m9<1>UB        g36<32,16,2>UB                        { align1 };
add(16)         g37<1>UW       g27<16,16,1>UW   g29<16,16,1>UW    { align1 };
add(16)         g37<1>UW       g37<16,16,1>UW   g28<16,16,1>UW    { align1 };
add(16)         g37<1>UW       g37<16,16,1>UW   g28<16,16,1>UW    { align1 };
add(16)         g37<1>UW       g37<16,16,1>UW   0x0008UW             { align1 };
shr(16)         g37<1>UW       g37<16,16,1>UW   0x0004UW             { align1 };
mov(16)         m9.16<1>UB     g37<32,16,2>UB                        { align1 };

mov(8)          m5<1>UD         g0<8,8,1>UD                     { align1 };
mov(2)          m5<1>UD         g3<2,2,1>UD                     { align1 };
mov(1)          m5.2<1>UD       0x0007000fUD                    { align1 };
// What lies outside of the image is not written.
send(8)         null<1>UW       m5<8,8,1>UW     render MsgDesc: media block write MsgCtrl = 0x0 Surface = 1 mlen 5 rlen 0 header { align1 };
// The thread spawner wants to hear of every end of a root thread (PRM vol4 2.6.9).
mov(8)          m0<1>UD         g0<8,8,1>UD                     { align1 };
send(8)         null<1>UW       m0<8,8,1>UW     thread_spawner MsgDesc: mlen 1 rlen 0 resource { align1 EOT };
