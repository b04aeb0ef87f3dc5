#if SQLITE
import Foundation
import Harness
import SQLitePeer

/// Notes and documents in SQLite, with tables of FTS5 beside them that triggers keep.
final class SQLiteTexts: TextStore {
  let contender = Contender.sqlite
  let settings = SQLiteDatabase.settings + "; FTS5 with external content, unicode61"
  private let database: SQLiteDatabase

  init(_ file: URL) throws {
    let schema = ["note", "document"].map { name in
      """
      CREATE TABLE \(name) (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
      CREATE VIRTUAL TABLE \(name)Words USING fts5(body, content='\(name)', content_rowid='id');
      CREATE TRIGGER \(name)Insert AFTER INSERT ON \(name) BEGIN
        INSERT INTO \(name)Words (rowid, body) VALUES (new.id, new.body);
      END;
      """
    }
    database = try SQLiteDatabase(file, schema: schema.joined(separator: "\n"))
  }

  func addNotes(_ texts: [String]) throws { try add(texts, "note", each: 10_000) }
  func addDocuments(_ texts: [String]) throws { try add(texts, "document", each: 100) }

  private func add(_ texts: [String], _ table: String, each count: Int) throws {
    let insert = try database.statement("INSERT INTO \(table) (body) VALUES (?)")
    for start in stride(from: 0, to: texts.count, by: count) {
      try database.inTransaction {
        for text in texts[start..<min(start + count, texts.count)] {
          insert.bind(text, at: 1)
          try insert.run()
        }
      }
    }
  }

  func searchNotes(_ words: [String]) throws -> Int { try search("note", words) }
  func searchDocuments(_ words: [String]) throws -> Int { try search("document", words) }

  private func search(_ table: String, _ words: [String]) throws -> Int {
    let search = try database.statement(
      """
      SELECT \(table).id, \(table).body FROM \(table)Words
      JOIN \(table) ON \(table).id = \(table)Words.rowid
      WHERE \(table)Words MATCH ? ORDER BY rank LIMIT 10
      """
    )
    search.bind(words.joined(separator: " "), at: 1)
    var texts: [String] = []
    try search.run { texts.append($0.text(1)) }
    return texts.count
  }

  func countNotes(containing text: String) throws -> Int { try count("note", text) }
  func countDocuments(containing text: String) throws -> Int { try count("document", text) }

  private func count(_ table: String, _ text: String) throws -> Int {
    let count = try database.statement("SELECT count(*) FROM \(table) WHERE body LIKE ?")
    count.bind("%\(text)%", at: 1)
    var found = 0
    try count.run { found = $0.integer(0) }
    return found
  }
}
#endif
