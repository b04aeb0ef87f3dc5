#if PostgreSQL
/// Limit, in bytes, of a value, and of all values of a row together, that can be sent to the server.
///
/// The server ends the session if a message has a gigabyte, which looks like a network that has failed.
enum ValueLimit {
  /// A little less, because other rows and the statement are in the message, too.
  static let byteCount = 1_000_000_000

  /// The reason why a larger value cannot be stored.
  static func reason(_ byteCount: Int) -> String {
    "it has \(byteCount) bytes, and PostgreSQL keeps up to a gigabyte"
  }
}
#endif
