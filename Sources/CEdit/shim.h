// The calls of libedit as functions of fixed arguments: its own take any number, which Swift cannot call.
// Of one editor all are made by one thread at a time. https://www.thrysoee.dk/editline/
#pragma once
#include <histedit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/// Lines typed on stdin, edited on stdout.
typedef struct {
    EditLine *line;
    History *history;
    const char *prompt;
} hub_editor;

static inline char *hub_editor_prompt(EditLine *line) {
    hub_editor *editor = NULL;
    el_get(line, EL_CLIENTDATA, &editor);
    return (char *)editor->prompt;
}

static inline unsigned char hub_editor_stop(EditLine *line, int key) {
    (void)line, (void)key;
    kill(getpid(), SIGTSTP);
    return CC_NORM;
}

static inline unsigned char hub_editor_quit(EditLine *line, int key) {
    (void)line, (void)key;
    kill(getpid(), SIGQUIT);
    return CC_NORM;
}

/// What stands in the line for the end of a line that was pasted: U+240A, SYMBOL FOR LINE FEED.
#define HUB_EDITOR_LINE_END L'\x240A'

/// Takes a text that the terminal marks as pasted (bracketed paste: between ESC [ 200 ~, which called this, and
/// ESC [ 201 ~), so that a line end in it does not end the message. LF, CR and CR LF are one line end each.
/// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html#h2-Bracketed-Paste-Mode
static inline unsigned char hub_editor_paste(EditLine *line, int key) {
    static const wchar_t end[] = L"\x1b[201~";
    size_t matched = 0;
    wchar_t character, before = 0;
    (void)key;
    while (matched < 6 && el_wgetc(line, &character) == 1) {
        if (character == end[matched]) {
            matched++;
            continue;
        }
        // Escapes and other control characters in a paste do nothing.
        for (size_t i = 1; i < matched; i++) {
            wchar_t text[2] = {end[i], 0};
            el_winsertstr(line, text);
        }
        matched = character == end[0];
        if (matched) continue;
        wchar_t text[2] = {character, 0};
        if (character == L'\r' || character == L'\n') {
            text[0] = character == L'\n' && before == L'\r' ? 0 : HUB_EDITOR_LINE_END;
        } else if (character == L'\t') {
            text[0] = L' ';
        } else if (character < L' ' || character == 0x7f) {
            text[0] = 0;
        }
        before = character;
        // The line is full: what does not fit is left out.
        if (text[0]) el_winsertstr(line, text);
    }
    return CC_REFRESH;
}

static inline void hub_editor_close(hub_editor *editor) {
    if (editor->line) el_end(editor->line);
    if (editor->history) history_end(editor->history);
    free(editor);
}

/// An editor with a history of `lines` lines; NULL without memory or a terminal. The locale must be set; `prompt` must
/// outlive the editor. ^C clears the line, for it comes as a character. Leaves the terminal in the editor's own mode.
static inline hub_editor *hub_editor_open(const char *prompt, int lines) {
    hub_editor *editor = calloc(1, sizeof *editor);
    HistEvent event;
    if (!editor) return NULL;
    editor->prompt = prompt;
    editor->line = el_init("hub", stdin, stdout, stderr);
    editor->history = history_init();
    if (!editor->line || !editor->history) {
        hub_editor_close(editor);
        return NULL;
    }
    history(editor->history, &event, H_SETSIZE, lines);
    history(editor->history, &event, H_SETUNIQUE, 1);
    el_set(editor->line, EL_CLIENTDATA, editor);
    el_set(editor->line, EL_PROMPT, hub_editor_prompt);
    el_set(editor->line, EL_EDITOR, "emacs");
    el_set(editor->line, EL_HIST, history, editor->history);
    // What the user set for all programs, in ~/.editrc.
    el_source(editor->line, NULL);
    // Keys that would send signals come as characters, so that ^C can clear the line. The editor would have the terminal
    // exchange CR and LF; then the CR LF of a paste could not be told from two line ends.
    el_set(editor->line, EL_SETTY, "-d", "-isig", "-icrnl", "-inlcr", NULL);
    el_set(editor->line, EL_BIND, "^C", "em-kill-line", NULL);
    // Wide strings, for el_set copies narrow ones and never frees them.
    el_wset(editor->line, EL_ADDFN, L"hub-stop", L"Stops the program for a while", hub_editor_stop);
    el_set(editor->line, EL_BIND, "^Z", "hub-stop", NULL);
    el_wset(editor->line, EL_ADDFN, L"hub-quit", L"Ends the program at once", hub_editor_quit);
    el_set(editor->line, EL_BIND, "^\\", "hub-quit", NULL);
    el_wset(editor->line, EL_ADDFN, L"hub-paste", L"Takes a pasted text", hub_editor_paste);
    el_set(editor->line, EL_BIND, "\\e[200~", "hub-paste", NULL);
    return editor;
}

/// The next line, with its end, until the next call; NULL at the end of the input.
static inline const char *hub_editor_read(hub_editor *editor) {
    int count = 0;
    // The window may have another size by now.
    el_resize(editor->line);
    // Before the prompt is shown, not after it: what is typed once it stands there must not be the terminal's to read.
    el_set(editor->line, EL_PREP_TERM, 1);
    return el_gets(editor->line, &count);
}

/// Puts a text into the next line, as if it had been typed.
static inline void hub_editor_prefill(hub_editor *editor, const char *text) { el_push(editor->line, text); }

static inline void hub_editor_remember(hub_editor *editor, const char *text) {
    HistEvent event;
    history(editor->history, &event, H_ENTER, text);
}

/// Takes the terminal again while a line is read, after the process was stopped.
static inline void hub_editor_resume(hub_editor *editor) {
    el_set(editor->line, EL_PREP_TERM, 1);
    el_set(editor->line, EL_REFRESH);
}
