/// A place in the order of a fetch, as text: where a page begins or ends.
///
/// It holds the values of the sort keys of one model, and which model it is. So a page begins behind that model however
/// many rows are inserted before it meanwhile, and also when the model is deleted. The text is made of letters, digits,
/// "-" and "_": it goes into a URL as it is. It is as long as the values of the sort keys and some 20 characters, the
/// same each time. It is not encrypted: a client that holds it can decode the values.
///
/// Any text can be made a token: ``ModelContext/page(_:after:)`` reads it, and throws ``PageError`` for one that it
/// cannot use.
public struct PageToken: RawRepresentable, LosslessStringConvertible, Hashable, Codable, Sendable {
  /// The text.
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// Makes a token of the text of one: of a request's query, say.
  public init(_ text: String) { rawValue = text }

  public var description: String { rawValue }
}
