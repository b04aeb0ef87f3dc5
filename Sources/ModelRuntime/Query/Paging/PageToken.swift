/// A place in the order of a fetch, as text: the end of a page.
///
/// It holds the values of the sort keys of one model, and the model's identity. So a page begins after that model however
/// many rows are inserted before it meanwhile, and also when the model is deleted. The text consists of letters, digits,
/// "-" and "_": it goes into a URL unchanged. It is as long as the values of the sort keys and some 20 characters, the
/// same each time. It is not encrypted: a client that holds it can decode the values.
///
/// Any text can be made a token: ``ModelContext/page(_:after:)`` reads it, and throws ``PageError`` for one it
/// cannot use.
public struct PageToken: RawRepresentable, LosslessStringConvertible, Hashable, Codable, Sendable {
  /// The text.
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// Makes a token from its text, for instance from a request's query.
  public init(_ text: String) { rawValue = text }

  public var description: String { rawValue }
}
