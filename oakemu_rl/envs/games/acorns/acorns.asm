; Acorns, a game for the ZX Spectrum 48K.
;
; Acorns drop from an old oak; a basket at its foot catches them. O moves the basket left, P right.
; Every catch scores a point, every acorn that hits the grass costs one of five lives, and the acorns
; fall faster as the score grows, until none can be reached. SPACE starts a game.
;
; Assemble with: pasmo --bin acorns.asm acorns.bin     (load at 8000h, enter at 8000h)
; No ROM routine is called; interrupts are taken in mode 2 and only end the wait for a frame.

        org     8000h

; ---------------------------------------------------------------- variables, at fixed addresses
score:          equ     0B000h          ; word: acorns caught
lives:          equ     0B002h          ; byte: 5 to 0
state:          equ     0B003h          ; byte: 0 title, 1 play, 2 over
seed:           equ     0B004h          ; word: the random numbers' state; poke it to choose a game
basket:         equ     0B006h          ; byte: leftmost column of the basket
acorn_x:        equ     0B007h          ; byte: left column of the acorn
acorn_y:        equ     0B008h          ; byte: top pixel row of the acorn
phase:          equ     0B009h          ; byte: 0 none, 1 hanging, 2 falling, 3 broken
best:           equ     0B00Ah          ; word: best score since loading
fraction:       equ     0B00Ch          ; byte: 256ths of a pixel below acorn_y
speed:          equ     0B00Dh          ; word: 256ths of a pixel per frame
timer:          equ     0B00Fh          ; byte: frames left in this phase
tick:           equ     0B010h          ; byte: frames played, modulo 256
colour:         equ     0B011h          ; byte: attribute of text
distance:       equ     0B013h          ; byte: acorns drop at least so far from the basket's middle
squirrel:       equ     0B014h          ; byte: its left column; 0 before it is seen

stack_top:      equ     0FD00h
vectors:        equ     0FE00h          ; 257 bytes of FDh
handler:        equ     0FDFDh

first_column:   equ     4               ; the basket's leftmost place, right of the trunk
first_place:    equ     15              ; where it begins
last_column:    equ     26              ; and its rightmost
basket_width:   equ     6
drop_first:     equ     5               ; acorns drop in columns 5 to 27
drop_count:     equ     23
hang_y:         equ     64              ; where an acorn appears, just below the crown
rim_y:          equ     144             ; its top row when it touches the basket's rim
grass_y:        equ     160             ; its top row when it lies on the grass
basket_row:     equ     20
squirrel_row:   equ     5
hang_frames:    equ     8
broken_frames:  equ     10
pause_frames:   equ     2
ready_frames:   equ     24

sky_colour:     equ     01101010b       ; bright, red on cyan
text_colour:    equ     01000111b       ; bright white on black
panel_colour:   equ     01001111b       ; bright white on blue
name_colour:    equ     01001110b       ; bright yellow on blue
squirrel_colour: equ    01100010b       ; bright red on green

; ---------------------------------------------------------------- start
start:  di
        ld      sp,stack_top
        ld      hl,vectors
        ld      de,vectors+1
        ld      bc,256
        ld      (hl),handler / 256
        ldir
        ld      a,0C9h                  ; RET, interrupts off again
        ld      (handler),a
        ld      a,vectors / 256
        ld      i,a
        im      2
        ld      hl,0
        ld      (best),hl
        ld      (score),hl
        ld      a,5
        ld      (lives),a

title:  xor     a
        ld      (state),a
        out     (254),a
        call    draw_scene
        call    draw_status
        ld      hl,title_text
        call    print_list
        ld      hl,title_name
        ld      de,11*256+10
        call    print_big
        ld      a,first_place
        ld      (basket),a
        call    draw_basket
title_wait:
        call    wait_frame
        call    random
        call    space_held
        jr      nz,title_wait

new_game:
        ld      hl,0
        ld      (score),hl
        ld      a,5
        ld      (lives),a
        ld      a,first_place
        ld      (basket),a
        xor     a
        ld      (squirrel),a
        ld      (phase),a
        ld      (tick),a
        ld      a,ready_frames
        ld      (timer),a
        call    set_speed
        call    draw_scene
        call    draw_status
        call    draw_basket
        ld      a,1
        ld      (state),a

play:   call    wait_frame
        ld      hl,tick
        inc     (hl)
        call    move_basket
        call    move_acorn
        ld      a,(state)
        cp      2
        jr      nz,play

        ld      hl,(score)
        ld      de,(best)
        or      a
        sbc     hl,de
        jr      c,not_best
        add     hl,de
        ld      (best),hl
        call    draw_status
not_best:
        ld      hl,over_text
        call    print_list
        ld      hl,over_name
        ld      de,11*256+8
        call    print_big
release:
        call    wait_frame
        call    space_held
        jr      z,release
over_wait:
        call    wait_frame
        call    space_held
        jr      nz,over_wait
        jr      new_game

wait_frame:                             ; interrupts are on while waiting, and only then
        ei
        halt
        ret

space_held:                             ; Z while SPACE is held
        ld      a,7Fh
        in      a,(254)
        and     1
        ret

; ---------------------------------------------------------------- random numbers
random: ld      hl,(seed)               ; a 16-bit Galois shift register, five steps; A = low byte
        ld      a,h
        or      l
        jr      nz,rolling
        ld      hl,0ACE1h               ; zero would stay zero
rolling:
        ld      b,5
roll:   srl     h
        rr      l
        jr      nc,no_tap
        ld      a,h
        xor     0B4h
        ld      h,a
no_tap: djnz    roll
        ld      (seed),hl
        ld      a,l
        ret

; ---------------------------------------------------------------- basket
move_basket:                            ; one column every second frame
        ld      a,(tick)
        rra
        ret     c
        ld      a,0DFh                  ; the row P O I U Y
        in      a,(254)
        and     3
        cp      1                       ; O alone: bit 1 low
        jr      z,go_left
        cp      2                       ; P alone: bit 0 low
        ret     nz
        ld      a,(basket)
        cp      last_column
        ret     z
        ld      e,a                     ; the column that falls free
        inc     a
        jr      moved
go_left:
        ld      a,(basket)
        cp      first_column
        ret     z
        ld      e,a
        dec     a
        ld      (basket),a
        ld      a,e
        add     a,basket_width-1
        ld      e,a
        jr      wipe
moved:  ld      (basket),a
wipe:   ld      d,basket_row            ; two cells of sky at column E
        ld      a,' '
        ld      c,sky_colour
        call    draw_char
        inc     d
        ld      a,' '
        call    draw_char

draw_basket:
        ld      a,(basket)
        ld      e,a
        ld      d,basket_row
        ld      a,'g'
        call    basket_line
        ld      a,(basket)
        ld      e,a
        ld      d,basket_row+1
        ld      a,'j'
basket_line:                            ; left, four middles, right: tiles A, A+1, A+2
        ld      c,sky_colour
        call    draw_char_next
        inc     a
        ld      b,4
middle: ld      c,00010110b             ; yellow on red
        call    draw_char_next
        djnz    middle
        inc     a
        ld      c,sky_colour
        jp      draw_char_next

; ---------------------------------------------------------------- acorn
move_acorn:
        ld      a,(phase)
        cp      2
        jp      z,fall
        ld      hl,timer
        dec     (hl)
        ret     nz
        or      a
        jr      z,appear
        dec     a
        jr      z,let_go

        call    wipe_acorn              ; the broken one is gone
        call    draw_basket
        xor     a
        ld      (phase),a
        ld      a,pause_frames
        ld      (timer),a
        ret

let_go: ld      a,2
        ld      (phase),a
        ret

appear: call    random                  ; a column under the crown, away from the basket
        and     31
        cp      drop_count
        jr      nc,appear
        add     a,drop_first
        ld      c,a
        ld      a,(basket)
        add     a,2
        sub     c
        jr      nc,far
        neg
far:    ld      b,a
        ld      a,(distance)
        dec     a
        cp      b
        jr      nc,appear               ; nearer than the distance
        ld      a,c
        ld      (acorn_x),a
        ld      a,hang_y
        ld      (acorn_y),a
        xor     a
        ld      (fraction),a
        inc     a
        ld      (phase),a
        ld      a,hang_frames
        ld      (timer),a
        ld      de,acorn_picture
        call    draw_acorn

        ld      d,squirrel_row          ; the squirrel leaps to where it drops the acorn
        ld      a,(squirrel)
        or      a
        jr      z,sit
        ld      e,a
        call    restore_two
        inc     d
        ld      e,a
        call    restore_two
        dec     d
sit:    ld      a,(acorn_x)
        ld      (squirrel),a
        ld      e,a
        ld      c,squirrel_colour
        ld      a,squirrel_tiles
        call    draw_two
        inc     d
        dec     e
        dec     e
draw_two:
        call    draw_char_next
        inc     a
        call    draw_char_next
        inc     a
        ret

fall:   ld      hl,(fraction)           ; L = fraction, H is replaced by the row
        ld      a,(acorn_y)
        ld      h,a
        ld      c,a                     ; C = old row
        ld      de,(speed)
        add     hl,de
        ld      a,l
        ld      (fraction),a
        ld      a,h
        cp      grass_y
        jr      c,above
        ld      a,grass_y
above:  ld      (acorn_y),a
        cp      rim_y
        jr      c,redraw
        ld      a,(acorn_x)             ; touching: basket <= x + 1 and x <= basket + 5
        ld      hl,basket
        inc     a
        sub     (hl)
        cp      basket_width+1
        jr      c,caught
        ld      a,(acorn_y)
        cp      grass_y
        jr      z,missed

redraw: ld      a,(acorn_y)             ; clear the rows that fall free, then draw
        sub     c
        jr      z,no_rows
        cp      16
        jr      c,few_rows
        ld      a,16
few_rows:
        ld      b,a
        call    wipe_rows
no_rows:
        ld      de,acorn_picture
        jp      draw_acorn

caught: ld      b,16
        call    wipe_rows
        call    draw_basket
        ld      hl,(score)
        inc     hl
        ld      (score),hl
        call    set_speed
        ld      a,pause_frames
        ld      (timer),a
        xor     a
        ld      (phase),a
        call    draw_score
        ld      bc,24*256+20            ; a high chirp
        jr      beep

missed: ld      b,16
        call    wipe_rows
        ld      de,broken_picture
        call    draw_acorn
        ld      a,3
        ld      (phase),a
        ld      a,broken_frames
        ld      (timer),a
        ld      hl,lives
        dec     (hl)
        jr      nz,alive
        ld      a,2
        ld      (state),a
alive:  call    draw_lives
        ld      bc,16*256+120           ; a low thud
beep:   xor     a                       ; B half waves of 16 C clock ticks
wave:   xor     10h
        out     (254),a
        ld      e,c
hold:   dec     e
        jr      nz,hold
        djnz    wave
        ret

set_speed:                              ; a step of the table every four points
        ld      hl,(score)
        srl     h
        rr      l
        srl     h
        rr      l
        ld      a,h
        or      a
        jr      nz,top_speed
        ld      a,l
        cp      speed_steps
        jr      c,known
top_speed:
        ld      a,speed_steps-1
known:  ld      e,a
        ld      d,0
        ld      hl,distances
        add     hl,de
        ld      a,(hl)
        ld      (distance),a
        ld      hl,speeds
        add     hl,de
        add     hl,de
        ld      e,(hl)
        inc     hl
        ld      d,(hl)
        ld      (speed),de
        ret

; 44, 42, ... 32 frames from the crown to the rim, then 18, 8 and 5: the end comes. No distance may
; be above 11, so that some column is always far enough.
speeds: defw    465,488,512,539,569,602,640,1138,2560,4096
speed_steps:    equ     ($-speeds)/2
distances:
        defb    6,6,6,6,6,6,6,8,11,11

; ---------------------------------------------------------------- status line
draw_status:
        ld      hl,status_text
        call    print_list
        ld      hl,(best)
        ld      de,0*256+15
        call    print_number
        call    draw_lives
draw_score:
        ld      hl,(score)
        ld      de,0*256+7
print_number:                           ; HL in three digits at row D, column E
        ld      a,01000110b             ; bright yellow on black
        ld      (colour),a
        ld      bc,-100
        call    print_digit
        ld      bc,-10
        call    print_digit
        ld      a,l
        add     a,'0'
        jp      print_char
print_digit:
        ld      a,'0'-1
count:  inc     a
        add     hl,bc
        jr      c,count
        or      a
        sbc     hl,bc
        jp      print_char

draw_lives:
        ld      a,(lives)
        ld      b,a
        ld      de,0*256+26
        ld      c,5
one_life:
        ld      a,b
        or      a
        ld      a,'n'                   ; an acorn
        jr      z,lost
        dec     b
        jr      show
lost:   ld      a,'o'                   ; its outline
show:   push    bc
        ld      c,01000010b             ; bright red on black
        call    draw_char_next
        pop     bc
        dec     c
        jr      nz,one_life
        ret

; ---------------------------------------------------------------- drawing
wipe_acorn:
        ld      a,(acorn_y)
        ld      c,a
        ld      b,16
wipe_rows:                              ; B rows from pixel row C at the acorn's columns
        call    acorn_address
wipe_row:
        xor     a
        ld      (hl),a
        inc     l
        ld      (hl),a
        dec     l
        call    next_row
        djnz    wipe_row
        ret

draw_acorn:                             ; picture at DE
        ld      a,(acorn_y)
        ld      c,a
        call    acorn_address
        ld      b,16
acorn_row:
        ld      a,(de)
        inc     de
        ld      (hl),a
        inc     l
        ld      a,(de)
        inc     de
        ld      (hl),a
        dec     l
        call    next_row
        djnz    acorn_row
        ret

acorn_address:                          ; HL = screen address of pixel row C, column acorn_x
        ld      a,c
        and     7
        ld      h,a
        ld      a,c
        rra
        rra
        rra
        and     18h
        or      h
        or      40h
        ld      h,a
        ld      a,c
        add     a,a
        add     a,a
        and     0E0h
        ld      l,a
        ld      a,(acorn_x)
        or      l
        ld      l,a
        ret

next_row:                               ; HL one pixel row down
        inc     h
        ld      a,h
        and     7
        ret     nz
        ld      a,l
        add     a,32
        ld      l,a
        ret     c
        ld      a,h
        sub     8
        ld      h,a
        ret

draw_scene:
        ld      hl,scene
        ld      de,0
scene_cell:
        ld      a,(hl)
        inc     hl
        push    hl
        call    draw_tile
        pop     hl
        ld      a,e
        cp      32
        jr      nz,scene_cell
        ld      e,0
        inc     d
        ld      a,d
        cp      24
        jr      nz,scene_cell
        ret

restore_two:                            ; two of the scene's tiles from row D, column E; keeps A
        call    restore_one
restore_one:
        push    af
        ld      l,d
        ld      h,0
        add     hl,hl
        add     hl,hl
        add     hl,hl
        add     hl,hl
        add     hl,hl
        ld      c,e
        ld      b,0
        add     hl,bc
        ld      bc,scene
        add     hl,bc
        ld      a,(hl)
        call    draw_tile
        pop     af
        ret

draw_tile:                              ; tile A in its own colours, then E + 1
        ld      c,sky_colour
        cp      ' '
        jr      z,draw_char_next
        push    af
        sub     first_tile
        ld      c,a
        ld      b,0
        ld      hl,tile_colours
        add     hl,bc
        ld      c,(hl)
        pop     af
draw_char_next:                         ; character A at row D, column E in colours C, then E + 1
        call    draw_char
        inc     e
        ret

draw_char:                              ; keeps A, BC and DE
        push    af
        push    bc
        push    de
        call    glyph_address
        call    cell_address
        ld      b,8
char_row:
        ld      a,(hl)
        ld      (de),a
        inc     hl
        inc     d
        djnz    char_row
        ld      a,d                     ; eight rows on: 48h, 50h or 58h
        sub     8
        rrca
        rrca
        rrca
        and     3
        or      58h
        ld      h,a
        ld      l,e
        pop     de
        pop     bc
        ld      (hl),c
        pop     af
        ret

glyph_address:                          ; HL = glyph of character A
        cp      ' '
        jr      nz,visible
        ld      a,'@'                   ; the empty glyph
visible:
        sub     '0'
        ld      l,a
        ld      h,0
        add     hl,hl
        add     hl,hl
        add     hl,hl
        ld      bc,glyphs
        add     hl,bc
        ret

cell_address:                           ; DE = screen address of row D, column E
        ld      a,d
        rrca
        rrca
        rrca
        and     0E0h
        or      e
        ld      e,a
        ld      a,d
        and     18h
        or      40h
        ld      d,a
        ret

print_big:                              ; text at HL, from row D, column E, twice as wide and high;
        ld      a,(hl)                  ; the cells keep their colours
        inc     hl
        or      a
        ret     z
        push    hl
        call    glyph_address
        call    big_half
        inc     d
        call    big_half
        dec     d
        inc     e
        inc     e
        pop     hl
        jr      print_big

big_half:                               ; four glyph rows from HL into two cells
        push    de
        call    cell_address
        ld      b,4
big_row:
        ld      c,(hl)
        inc     hl
        push    hl
        push    bc
        ld      b,8
double: rlc     c                       ; each bit of C twice into HL
        adc     hl,hl
        ld      a,c
        rra
        adc     hl,hl
        djnz    double
        pop     bc
        ld      a,h
        ld      (de),a
        inc     d
        ld      (de),a
        inc     e
        ld      a,l
        ld      (de),a
        dec     d
        ld      (de),a
        dec     e
        inc     d
        inc     d
        pop     hl
        djnz    big_row
        pop     de
        ret

print_list:                             ; texts: colour, row, column, characters, 0; FFh ends the list
        ld      a,(hl)
        inc     hl
        cp      0FFh
        ret     z
        ld      (colour),a
        ld      d,(hl)
        inc     hl
        ld      e,(hl)
        inc     hl
text_char:
        ld      a,(hl)
        inc     hl
        or      a
        jr      z,print_list
        push    hl
        call    print_char
        pop     hl
        jr      text_char

print_char:                             ; A at row D, column E, then E + 1; keeps HL
        push    hl
        push    bc
        push    af
        ld      a,(colour)
        ld      c,a
        pop     af
        call    draw_char_next
        pop     bc
        pop     hl
        ret

; ---------------------------------------------------------------- texts
status_text:
        defb    text_colour,0,0," SCORE      HI                  ",0
        defb    0FFh
title_text:
        defb    panel_colour,10,8,"                ",0
        defb    name_colour,11,8,"                ",0
        defb    name_colour,12,8,"                ",0
        defb    panel_colour,13,8,"                ",0
        defb    panel_colour,14,8," O LEFT P RIGHT ",0
        defb    panel_colour,15,8,"                ",0
        defb    panel_colour,16,8,"  PRESS SPACE   ",0
        defb    panel_colour,17,8,"                ",0
        defb    0FFh
title_name:
        defb    "ACORNS",0
over_text:
        defb    panel_colour,10,7,"                    ",0
        defb    name_colour,11,7,"                    ",0
        defb    name_colour,12,7,"                    ",0
        defb    panel_colour,13,7,"                    ",0
        defb    panel_colour,14,7,"    PRESS SPACE     ",0
        defb    panel_colour,15,7,"                    ",0
        defb    0FFh
over_name:
        defb    "GAME OVER",0

; ---------------------------------------------------------------- the scene: letters are tiles
scene:  defb    'wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww'
        defb    '   xzzy   xzzzy   xzzy       {| '
        defb    ' xzcabazzzbcabczzzcabaczy    }~ '
        defb    'xbacbacabcabcabcabcabcbacbzy    '
        defb    'acbabcacbabcabcbabcabcbacbacy   '
        defb    'bmcbacdaebacmbcadbacebmacbcabzy '
        defb    'ed`em`de`ed`mde`ed`em`de`edebac '
        defb    '`e`f\e`f\\ef\fd\f`e\f\`e\ff\d\f '
        defb    'p[p_                            '
        defb    'qpqr                            '
        defb    'pqpr                            '
        defb    'qpqr                            '
        defb    'pqpr                            '
        defb    'q[qr                            '
        defb    'pqpr                            '
        defb    'qpqr                            '
        defb    'pqpr                            '
        defb    'qpqr                            '
        defb    'pq[r                            '
        defb    'qpqr                            '
        defb    'pqpr                            '
        defb    'qpqs                            '
        defb    'tuttutuuttututtuuttutututtuututt'
        defb    'vv]vvvv^vvvvv]vvv^vvvv]vvvvv^vv]'

first_tile:     equ     '['
tile_colours:
        defb    00010000b               ; [  a knot in the bark: black on red
        defb    01101100b               ; \  lower edge: bright green on cyan
        defb    00100110b               ; ]  flowers: yellow on green
        defb    00100111b               ; ^  flowers: white on green
        defb    01101010b               ; _  a branch: red on cyan
        defb    01100000b               ; `  deep shade: black on bright green
        defb    01100000b               ; a  lit leaves: black on bright green
        defb    01100000b               ; b
        defb    01100000b               ; c
        defb    01100000b               ; d  leaves in shade
        defb    01100000b               ; e
        defb    01101100b               ; f  lower edge: bright green on cyan
        defb    0,0,0,0,0,0             ; g to l are the basket's
        defb    01100000b               ; m  leaves in shade
        defb    0,0                     ; n and o are the lives
        defb    00010000b               ; p  bark: black on red
        defb    00010000b               ; q
        defb    01101010b               ; r  its right edge: red on cyan
        defb    01101010b               ; s  a root
        defb    01100101b               ; t  grass blades: cyan on bright green
        defb    01100101b               ; u
        defb    00100000b               ; v  grass: black on green
        defb    01000111b               ; w  status line: white on black
        defb    01101100b               ; x  upper edges: bright green on cyan
        defb    01101100b               ; y
        defb    01101100b               ; z
        defb    01101110b               ; {  sun: yellow on cyan
        defb    01101110b               ; |
        defb    01101110b               ; }
        defb    01101110b               ; ~

; ---------------------------------------------------------------- pictures
acorn_picture:
        defb    00000010b,00000000b
        defb    00000001b,10000000b
        defb    00000111b,11100000b
        defb    00011111b,11111000b
        defb    00111011b,01110100b
        defb    01101101b,10110110b
        defb    01111111b,11111110b
        defb    00111111b,11111100b
        defb    00111111b,11111100b
        defb    00111001b,11111100b
        defb    00110011b,11111100b
        defb    00110011b,11111100b
        defb    00011111b,11111000b
        defb    00001111b,11110000b
        defb    00000111b,11100000b
        defb    00000001b,10000000b
broken_picture:
        defb    00000000b,00000000b
        defb    00000000b,00000000b
        defb    00000000b,00000000b
        defb    00000000b,00000000b
        defb    00010000b,00001000b
        defb    00000100b,00100000b
        defb    01000000b,00000010b
        defb    00001000b,00010000b
        defb    00000000b,00000000b
        defb    00111000b,00011100b
        defb    01111100b,01111110b
        defb    11111000b,00111111b
        defb    11111100b,01111111b
        defb    11111110b,00111111b
        defb    01111100b,01111110b
        defb    00111000b,00111100b

glyphs:                                 ; from character '0' on
        defb    03Ch,066h,06Eh,07Eh,076h,066h,03Ch,000h  ; 0
        defb    018h,038h,018h,018h,018h,018h,07Eh,000h  ; 1
        defb    03Ch,066h,006h,00Ch,030h,060h,07Eh,000h  ; 2
        defb    03Ch,066h,006h,01Ch,006h,066h,03Ch,000h  ; 3
        defb    00Ch,01Ch,03Ch,06Ch,07Eh,00Ch,00Ch,000h  ; 4
        defb    07Eh,060h,07Ch,006h,006h,066h,03Ch,000h  ; 5
        defb    03Ch,060h,07Ch,066h,066h,066h,03Ch,000h  ; 6
        defb    07Eh,006h,00Ch,018h,030h,030h,030h,000h  ; 7
        defb    03Ch,066h,066h,03Ch,066h,066h,03Ch,000h  ; 8
        defb    03Ch,066h,066h,03Eh,006h,00Ch,038h,000h  ; 9
        defs    7*8                     ; : to @, the last one the empty glyph
        defb    03Ch,066h,066h,07Eh,066h,066h,066h,000h  ; A
        defb    07Ch,066h,066h,07Ch,066h,066h,07Ch,000h  ; B
        defb    03Ch,066h,060h,060h,060h,066h,03Ch,000h  ; C
        defb    078h,06Ch,066h,066h,066h,06Ch,078h,000h  ; D
        defb    07Eh,060h,060h,07Ch,060h,060h,07Eh,000h  ; E
        defb    07Eh,060h,060h,07Ch,060h,060h,060h,000h  ; F
        defb    03Ch,066h,060h,06Eh,066h,066h,03Eh,000h  ; G
        defb    066h,066h,066h,07Eh,066h,066h,066h,000h  ; H
        defb    03Ch,018h,018h,018h,018h,018h,03Ch,000h  ; I
        defb    01Eh,00Ch,00Ch,00Ch,00Ch,06Ch,038h,000h  ; J
        defb    066h,06Ch,078h,070h,078h,06Ch,066h,000h  ; K
        defb    060h,060h,060h,060h,060h,060h,07Eh,000h  ; L
        defb    063h,077h,07Fh,06Bh,063h,063h,063h,000h  ; M
        defb    066h,076h,07Eh,07Eh,06Eh,066h,066h,000h  ; N
        defb    03Ch,066h,066h,066h,066h,066h,03Ch,000h  ; O
        defb    07Ch,066h,066h,07Ch,060h,060h,060h,000h  ; P
        defb    03Ch,066h,066h,066h,06Eh,06Ch,036h,000h  ; Q
        defb    07Ch,066h,066h,07Ch,078h,06Ch,066h,000h  ; R
        defb    03Eh,060h,060h,03Ch,006h,006h,07Ch,000h  ; S
        defb    07Eh,018h,018h,018h,018h,018h,018h,000h  ; T
        defb    066h,066h,066h,066h,066h,066h,03Ch,000h  ; U
        defb    066h,066h,066h,066h,066h,03Ch,018h,000h  ; V
        defb    063h,063h,063h,06Bh,07Fh,077h,063h,000h  ; W
        defb    066h,066h,03Ch,018h,03Ch,066h,066h,000h  ; X
        defb    066h,066h,066h,03Ch,018h,018h,018h,000h  ; Y
        defb    07Eh,006h,00Ch,018h,030h,060h,07Eh,000h  ; Z
        defb    00111000b               ; [
        defb    01000100b
        defb    10011010b
        defb    10100001b
        defb    10100101b
        defb    01011001b
        defb    00100010b
        defb    00011100b
        defb    11111111b               ; \
        defb    11111111b
        defb    11111111b
        defb    01111111b
        defb    00111111b
        defb    00011110b
        defb    00001100b
        defb    00000000b
        defb    00000000b               ; ]
        defb    00100000b
        defb    01110000b
        defb    00100000b
        defb    00000010b
        defb    00000111b
        defb    00000010b
        defb    00000000b
        defb    00000000b               ; ^
        defb    00000100b
        defb    00001110b
        defb    00000100b
        defb    01000000b
        defb    11100000b
        defb    01000000b
        defb    00000000b
        defb    11111111b               ; _
        defb    11111110b
        defb    11111100b
        defb    11111000b
        defb    11100000b
        defb    11000000b
        defb    10000000b
        defb    00000000b
        defb    01010101b               ; `
        defb    10101010b
        defb    01110111b
        defb    11011101b
        defb    01010101b
        defb    10111010b
        defb    01110101b
        defb    11011110b
        defb    00000000b               ; a
        defb    00111000b
        defb    01000100b
        defb    10000010b
        defb    00000000b
        defb    00000110b
        defb    00001001b
        defb    00010000b
        defb    00000000b               ; b
        defb    00000000b
        defb    00001100b
        defb    00010010b
        defb    00100001b
        defb    00000000b
        defb    11000000b
        defb    00100000b
        defb    01000000b               ; c
        defb    10100000b
        defb    00010000b
        defb    00000000b
        defb    00000011b
        defb    00000100b
        defb    00001000b
        defb    00000000b
        defb    01010000b               ; d
        defb    00111000b
        defb    01000101b
        defb    10010010b
        defb    00101000b
        defb    01000110b
        defb    10001001b
        defb    00010100b
        defb    10010001b               ; e
        defb    00100010b
        defb    01001100b
        defb    10010010b
        defb    00100101b
        defb    01010000b
        defb    11001010b
        defb    00100100b
        defb    11111111b               ; f
        defb    11111111b
        defb    11111111b
        defb    11111111b
        defb    01111110b
        defb    00111100b
        defb    00000000b
        defb    00000000b
        defb    01111111b               ; g
        defb    11111111b
        defb    11111111b
        defb    01111111b
        defb    00111111b
        defb    00111111b
        defb    00111111b
        defb    00111111b
        defb    11111111b               ; h
        defb    00000000b
        defb    11111111b
        defb    00000000b
        defb    01000100b
        defb    01000100b
        defb    00000000b
        defb    00010001b
        defb    11111110b               ; i
        defb    11111111b
        defb    11111111b
        defb    11111110b
        defb    11111100b
        defb    11111100b
        defb    11111100b
        defb    11111100b
        defb    00011111b               ; j
        defb    00011111b
        defb    00011111b
        defb    00011111b
        defb    00001111b
        defb    00001111b
        defb    00000111b
        defb    00000011b
        defb    00010001b               ; k
        defb    00000000b
        defb    01000100b
        defb    01000100b
        defb    00000000b
        defb    00010001b
        defb    00010001b
        defb    00000000b
        defb    11111000b               ; l
        defb    11111000b
        defb    11111000b
        defb    11111000b
        defb    11110000b
        defb    11110000b
        defb    11100000b
        defb    11000000b
        defb    01000100b               ; m
        defb    10101010b
        defb    00010001b
        defb    01010000b
        defb    10101011b
        defb    00010101b
        defb    01001000b
        defb    10010010b
        defb    00010000b               ; n
        defb    00111000b
        defb    01111100b
        defb    11111110b
        defb    01111100b
        defb    01111100b
        defb    00111000b
        defb    00010000b
        defb    00010000b               ; o
        defb    00101000b
        defb    01000100b
        defb    11111110b
        defb    01000100b
        defb    01000100b
        defb    00101000b
        defb    00010000b
        defb    00100010b               ; p
        defb    00100100b
        defb    01000100b
        defb    01001000b
        defb    01001000b
        defb    01000100b
        defb    00100100b
        defb    00100010b
        defb    01000001b               ; q
        defb    01000010b
        defb    00100100b
        defb    00100100b
        defb    01000010b
        defb    10000001b
        defb    10010001b
        defb    01000010b
        defb    11111100b               ; r
        defb    11111100b
        defb    11111000b
        defb    11111000b
        defb    11111100b
        defb    11111100b
        defb    11111000b
        defb    11111100b
        defb    11111100b               ; s
        defb    11111100b
        defb    11111110b
        defb    11111110b
        defb    11111110b
        defb    11111111b
        defb    11111111b
        defb    11111111b
        defb    10111011b               ; t
        defb    10011001b
        defb    00010001b
        defb    00000001b
        defb    00000000b
        defb    00000000b
        defb    00000000b
        defb    00000000b
        defb    11011101b               ; u
        defb    01001101b
        defb    01000100b
        defb    00000100b
        defb    00000000b
        defb    00000000b
        defb    00000000b
        defb    00000000b
        defb    00000000b               ; v
        defb    01000010b
        defb    00100100b
        defb    00000000b
        defb    00000000b
        defb    00010000b
        defb    10001000b
        defb    01000000b
        defb    00000000b               ; w
        defb    00000000b
        defb    00000000b
        defb    00000000b
        defb    00000000b
        defb    00000000b
        defb    00000000b
        defb    00000000b
        defb    00000011b               ; x
        defb    00001111b
        defb    00011111b
        defb    00111111b
        defb    01111111b
        defb    01111111b
        defb    11111111b
        defb    11111111b
        defb    11000000b               ; y
        defb    11110000b
        defb    11111000b
        defb    11111100b
        defb    11111110b
        defb    11111110b
        defb    11111111b
        defb    11111111b
        defb    00111100b               ; z
        defb    01111110b
        defb    11111111b
        defb    11111111b
        defb    11111111b
        defb    11111111b
        defb    11111111b
        defb    11111111b
        defb    00000111b               ; {
        defb    00011111b
        defb    00111111b
        defb    01111111b
        defb    01111111b
        defb    11111111b
        defb    11111111b
        defb    11111111b
        defb    11100000b               ; |
        defb    11111000b
        defb    11111100b
        defb    11111110b
        defb    11111110b
        defb    11111111b
        defb    11111111b
        defb    11111111b
        defb    11111111b               ; }
        defb    11111111b
        defb    11111111b
        defb    01111111b
        defb    01111111b
        defb    00111111b
        defb    00011111b
        defb    00000111b
        defb    11111111b               ; ~
        defb    11111111b
        defb    11111111b
        defb    11111110b
        defb    11111110b
        defb    11111100b
        defb    11111000b
        defb    11100000b
squirrel_tiles: equ     127             ; upper left, upper right, lower left, lower right
        defb    00000000b
        defb    00111000b
        defb    01111100b
        defb    11111110b
        defb    11101110b
        defb    11001110b
        defb    00011110b
        defb    00011100b
        defb    00010100b
        defb    00111100b
        defb    01111110b
        defb    01111011b
        defb    11111111b
        defb    01111110b
        defb    00111100b
        defb    11111100b
        defb    00111101b
        defb    00111011b
        defb    00111011b
        defb    00111111b
        defb    00011111b
        defb    00001111b
        defb    00000111b
        defb    00000011b
        defb    11111110b
        defb    11110010b
        defb    11111100b
        defb    11111000b
        defb    11110000b
        defb    11111000b
        defb    11111100b
        defb    11111110b
