import Harness

/// Somebody who keeps notes and documents, and finds them by their words.
protocol TextStore: AnyObject {
  var contender: Contender { get }
  var settings: String { get }

  /// Keeps texts as notes, 10,000 a commit.
  func addNotes(_ texts: [String]) throws
  /// Keeps texts as documents, 100 a commit.
  func addDocuments(_ texts: [String]) throws
  /// How many notes are returned of the ten best for some words.
  func searchNotes(_ words: [String]) throws -> Int
  /// How many documents are returned of the ten best for some words.
  func searchDocuments(_ words: [String]) throws -> Int
  /// How many notes contain a text, whatever the case.
  func countNotes(containing text: String) throws -> Int
  /// How many documents contain a text, whatever the case.
  func countDocuments(containing text: String) throws -> Int
}
