import Harness

/// A store that keeps notes and documents, and finds them by their words.
protocol TextStore: AnyObject {
  var contender: Contender { get }
  var settings: String { get }

  /// Keeps texts as notes, 10,000 a commit.
  func addNotes(_ texts: [String]) throws
  /// Keeps texts as documents, 100 a commit.
  func addDocuments(_ texts: [String]) throws
  /// The number of notes returned, of the ten best for some words.
  func searchNotes(_ words: [String]) throws -> Int
  /// The number of documents returned, of the ten best for some words.
  func searchDocuments(_ words: [String]) throws -> Int
  /// The number of notes that contain a text, whatever the case.
  func countNotes(containing text: String) throws -> Int
  /// The number of documents that contain a text, whatever the case.
  func countDocuments(containing text: String) throws -> Int
}
