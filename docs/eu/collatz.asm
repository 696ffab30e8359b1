// Steps of the Collatz sequence down to 1, for eight numbers at once: they diverge, the loop goes on
// until the last channel is done. Numbers in r2, steps in r3.
// crestline eu run docs/eu/collatz.asm --gen 4 --grf r2=ud:1,2,3,6,7,9,27,97 --exec-size-mask 0xff --dump r3:ud

        mov(8)          g3<1>UD         0x00000000UD                    { align1 };
        do(8)                                                           { align1 };
LOOP:
        // A channel that has arrived leaves the loop; the mask stack remembers it.
        cmp.le.f0.0(8)  null<1>UD       g2<8,8,1>UD     0x00000001UD    { align1 switch };
(+f0.0) break(8)        Jump: DONE      Pop: 0                          { align1 };
        add(8)          g3<1>UD         g3<8,8,1>UD     0x00000001UD    { align1 };
        // Even: n / 2. Odd: 3 n + 1.
        and.z.f0.0(8)   null<1>UD       g2<8,8,1>UD     0x00000001UD    { align1 switch };
        shl(8)          g4<1>UD         g2<8,8,1>UD     0x00000001UD    { align1 };
        add(8)          g4<1>UD         g4<8,8,1>UD     g2<8,8,1>UD     { align1 };
        add(8)          g4<1>UD         g4<8,8,1>UD     0x00000001UD    { align1 };
        shr(8)          g5<1>UD         g2<8,8,1>UD     0x00000001UD    { align1 };
(+f0.0) sel(8)          g2<1>UD         g5<8,8,1>UD     g4<8,8,1>UD     { align1 };
        while(8)        Jump: LOOP                                      { align1 };
DONE:
        nop;
