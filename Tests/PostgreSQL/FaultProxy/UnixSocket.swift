import Foundation
import Glibc

/// A call of the system that failed.
public struct SocketError: Error, CustomStringConvertible {
  public let call: String
  public let path: String
  public let errno: Int32

  public var description: String {
    "\(call) of \(path): \(String(cString: strerror(errno)))"
  }
}

/// Sockets of this machine.
enum UnixSocket {
  static func listen(at path: String) throws -> Int32 {
    unlink(path)
    let descriptor = try open(path)
    let status = try withAddress(path) { bind(descriptor, $0, $1) }
    guard status == 0, Glibc.listen(descriptor, 128) == 0 else {
      throw failure("bind", path, closing: descriptor)
    }
    return descriptor
  }

  static func connect(to path: String) throws -> Int32 {
    let descriptor = try open(path)
    guard try withAddress(path, { Glibc.connect(descriptor, $0, $1) }) == 0 else {
      throw failure("connect", path, closing: descriptor)
    }
    return descriptor
  }

  /// Waits for a client; `nil` once the socket was shut.
  static func accept(_ listener: Int32) -> Int32? {
    while true {
      let descriptor = Glibc.accept(listener, nil, nil)
      if descriptor >= 0 { return descriptor }
      guard errno == EINTR || errno == ECONNABORTED else { return nil }
    }
  }

  /// Waits for bytes; `nil` at the end.
  static func receive(from descriptor: Int32) -> [UInt8]? { receive(from: descriptor, 0) }

  /// The bytes that have come already.
  static func receiveWhatIsThere(from descriptor: Int32) -> [UInt8] {
    var all: [UInt8] = []
    while let bytes = receive(from: descriptor, Int32(MSG_DONTWAIT)) { all += bytes }
    return all
  }

  private static func receive(from descriptor: Int32, _ flags: Int32) -> [UInt8]? {
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
      var received: Int
      repeat {
        received = recv(descriptor, buffer.baseAddress, buffer.count, flags)
      } while received < 0 && errno == EINTR
      count = max(0, received)
    }
    return bytes.isEmpty ? nil : bytes
  }

  /// Sends bytes.
  ///
  /// - Returns: Whether the other side is there.
  static func send(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
    bytes.withUnsafeBytes { buffer in
      var sent = 0
      while sent < buffer.count {
        let count = Glibc.send(
          descriptor,
          buffer.baseAddress.map { $0 + sent },
          buffer.count - sent,
          Int32(MSG_NOSIGNAL)
        )
        if count < 0 {
          if errno == EINTR { continue }
          return false
        }
        sent += count
      }
      return true
    }
  }

  static func finishSending(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_WR)) }
  static func shut(_ descriptor: Int32) { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private static func open(_ path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    if descriptor < 0 { throw SocketError(call: "socket", path: path, errno: errno) }
    return descriptor
  }

  private static func failure(
    _ call: String,
    _ path: String,
    closing descriptor: Int32
  ) -> SocketError {
    let error = SocketError(call: call, path: path, errno: errno)
    close(descriptor)
    return error
  }

  private static func withAddress<R>(
    _ path: String,
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
  ) throws -> R {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < capacity else {
      throw SocketError(call: "bind", path: path, errno: ENAMETOOLONG)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}

/// A generator that gives the same numbers for the same seed.
public struct SplitMix: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(_ seed: UInt64) { state = seed &* 0xD6E8_FEB8_6659_FD93 }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
