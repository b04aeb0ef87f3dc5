/// The kinds of objects that a name may refer to.
public enum FileKind: String, Sendable, Hashable {
  /// A regular file.
  case file = "a file"
  /// A directory.
  case directory = "a folder"
  /// A symbolic link.
  case link = "a symbolic link"
  /// A named pipe.
  case pipe = "a named pipe"
  /// A block or character device.
  case device = "a device"
  /// A socket.
  case socket = "a socket"
}
