/// The kinds of things a name may stand for.
public enum FileKind: String, Sendable, Hashable {
  case file = "a file"
  case directory = "a folder"
  case link = "a symbolic link"
  case pipe = "a named pipe"
  case device = "a device"
  case socket = "a socket"
}
