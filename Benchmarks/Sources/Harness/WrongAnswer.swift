/// A contender did not return what was stored; its time would mean nothing.
public struct WrongAnswer: Error, CustomStringConvertible {
  public let description: String

  public init(_ contender: Contender, expected: Int, found: Int) {
    description = "\(contender.rawValue) answered \(found) where \(expected) was stored"
  }

  /// Checks an answer.
  ///
  /// - Parameters:
  ///   - found: The contender's answer.
  ///   - expected: The right answer.
  ///   - contender: The contender to name.
  /// - Throws: ``WrongAnswer`` if they differ.
  public static func check(_ found: Int, is expected: Int, _ contender: Contender) throws {
    if found != expected { throw WrongAnswer(contender, expected: expected, found: found) }
  }
}
