// y = a * x + y over sixteen channels: a in r2.0, x in r4 and r5, y in r6 and r7.
// crestline eu run docs/eu/saxpy.asm --gen 4 --grf r2=f:2.0 --grf r4=f:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 --grf r6=f:0.5*16

mul(16)         g10<1>F         g4<8,8,1>F      g2<0,1,0>F      { align1 compr };
add(16)         g6<1>F          g10<8,8,1>F     g6<8,8,1>F      { align1 compr };
