// The ncurses calls of the full-screen list, as functions: most of ncurses' own are macros, which Swift cannot call.
// All are made by one thread. https://invisible-island.net/ncurses/man/ncurses.3x.html
#pragma once
// Without it the header hides the wide-character functions.
#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>

enum {
    HUB_KEY_NONE = 0,
    HUB_KEY_TEXT, ///< a character; see hub_curses_key
    HUB_KEY_UP, HUB_KEY_DOWN, HUB_KEY_PAGE_UP, HUB_KEY_PAGE_DOWN, HUB_KEY_HOME, HUB_KEY_END, HUB_KEY_ENTER,
    HUB_KEY_BACKSPACE, HUB_KEY_OTHER
};

enum { HUB_LOOK_BOLD = 1, HUB_LOOK_DIM = 2, HUB_LOOK_REVERSE = 4 };

/// Takes the terminal on stdin and stdout. The locale must be set. 0, or -1 if terminfo does not know the terminal or
/// it cannot position the cursor.
static inline int hub_curses_open(int with_colors) {
    // newterm, because initscr ends the program on an unknown terminal.
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (!screen) return -1;
    set_term(screen);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    // Milliseconds to wait after Esc for the rest of a key sequence. The default is a second.
    set_escdelay(100);
    // Sequences that terminals send whatever their terminfo says, in both cursor key modes.
    static const struct { const char *sent; int key; } keys[] = {
        {"\033[A", KEY_UP}, {"\033OA", KEY_UP}, {"\033[B", KEY_DOWN}, {"\033OB", KEY_DOWN},
        {"\033[H", KEY_HOME}, {"\033OH", KEY_HOME}, {"\033[1~", KEY_HOME}, {"\033[7~", KEY_HOME},
        {"\033[F", KEY_END}, {"\033OF", KEY_END}, {"\033[4~", KEY_END}, {"\033[8~", KEY_END},
        {"\033[5~", KEY_PPAGE}, {"\033[6~", KEY_NPAGE},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) define_key(keys[i].sent, keys[i].key);
    if (with_colors && has_colors()) {
        start_color();
        use_default_colors();
        for (short color = 0; color < 8 && color < COLORS; color++) init_pair((short)(color + 1), color, -1);
    }
    return 0;
}

/// Restores the terminal; hub_curses_draw takes it again.
static inline void hub_curses_close(void) { endwin(); }

static inline void hub_curses_clear(void) { erase(); }

/// The next hub_curses_draw redraws everything.
static inline void hub_curses_forget(void) { clearok(curscr, TRUE); }

static inline void hub_curses_resize(int rows, int columns) { resizeterm(rows, columns); }

/// Writes UTF-8 at a place; what does not fit is left out. `color` is one of the first eight, or -1.
static inline void hub_curses_put(int row, int column, const char *text, int looks, int color) {
    attr_t attributes = A_NORMAL;
    if (looks & HUB_LOOK_BOLD) attributes |= A_BOLD;
    if (looks & HUB_LOOK_DIM) attributes |= A_DIM;
    if (looks & HUB_LOOK_REVERSE) attributes |= A_REVERSE;
    // COLOR_PAIRS is 0 if colours were not asked for.
    attr_set(attributes, (short)(color >= 0 && color + 1 < COLOR_PAIRS ? color + 1 : 0), NULL);
    mvaddstr(row, column, text);
    attr_set(A_NORMAL, 0, NULL);
}

/// Shows what was written, with the cursor at a place.
static inline void hub_curses_draw(int row, int column) {
    move(row, column);
    wnoutrefresh(stdscr);
    doupdate();
}

static inline void hub_curses_beep(void) { beep(); }

/// Discards unread input.
static inline void hub_curses_drop_input(void) { flushinp(); }

/// The next key, one of HUB_KEY_*, without waiting; a character is in `character`.
static inline int hub_curses_key(uint32_t *character) {
    wint_t key = 0;
    int kind;
    // A resize is not a key; SIGWINCH reports it.
    while ((kind = get_wch(&key)) == KEY_CODE_YES && key == KEY_RESIZE) {}
    if (kind == ERR) return HUB_KEY_NONE;
    if (kind == OK) {
        if (key == '\r' || key == '\n') return HUB_KEY_ENTER;
        if (key == 127 || key == 8) return HUB_KEY_BACKSPACE;
        *character = (uint32_t)key;
        return HUB_KEY_TEXT;
    }
    switch (key) {
    case KEY_UP: return HUB_KEY_UP;
    case KEY_DOWN: return HUB_KEY_DOWN;
    case KEY_PPAGE: return HUB_KEY_PAGE_UP;
    case KEY_NPAGE: return HUB_KEY_PAGE_DOWN;
    case KEY_HOME: return HUB_KEY_HOME;
    case KEY_END: return HUB_KEY_END;
    case KEY_ENTER: return HUB_KEY_ENTER;
    case KEY_BACKSPACE: return HUB_KEY_BACKSPACE;
    default: return HUB_KEY_OTHER;
    }
}

/// The escape sequences that restore the terminal, for a signal handler, which may not call this library.
static inline int hub_curses_leaving(char *text, size_t room) {
    const char *names[] = {"rmkx", "op", "sgr0", "cnorm", "rmcup"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = tigetstr(names[i]);
        if (!value || value == (const char *)-1) continue;
        for (; *value && used < room; value++) {
            // Padding ("$<2>") is only for slow hardware terminals.
            if (value[0] == '$' && value[1] == '<') {
                while (*value && *value != '>') value++;
                if (!*value) break;
            } else {
                text[used++] = *value;
            }
        }
    }
    return (int)used;
}
