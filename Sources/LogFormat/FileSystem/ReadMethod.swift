/// The ways in which the bytes of a file are read.
public enum ReadMethod: Sendable, Hashable {
  /// Through mappings: fastest, but the system reports a media error as a signal.
  case mapped
  /// By reading into memory: slower, and every error can be caught.
  case copied
}
