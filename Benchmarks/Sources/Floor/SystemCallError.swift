import Glibc

/// A system call the floor rests on failed.
public struct SystemCallError: Error, CustomStringConvertible {
  public let call: String
  public let code: CInt

  init(_ call: String) {
    self.call = call
    code = errno
  }

  public var description: String { "\(call): \(String(cString: strerror(code)))" }
}
