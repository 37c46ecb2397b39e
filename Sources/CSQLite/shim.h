#include <sqlite3.h>
#include <stddef.h>

/// FTS5's extension API; NULL if this SQLite has no FTS5. https://www.sqlite.org/fts5.html#extending_fts5
static inline fts5_api *hub_fts5_api(sqlite3 *database) {
    fts5_api *api = NULL;
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", NULL);
        sqlite3_step(statement);
    }
    sqlite3_finalize(statement);
    return api;
}

/// Turns off SQLite's memory statistics, which lock on every allocation. Has no effect after the first connection.
/// https://www.sqlite.org/c3ref/c_config_covering_index_scan.html#sqliteconfigmemstatus
static inline void hub_sqlite_count_no_memory(void) { (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
