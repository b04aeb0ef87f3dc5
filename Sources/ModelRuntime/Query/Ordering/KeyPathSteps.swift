/// The steps of a key path.
///
/// Swift does not take key paths apart, and one with optional chaining equals none that is composed
/// from single steps. But a fetch sorted by `\.folder?.name` must know what that reads. So the
/// steps are read from the key path's memory, whose layout is part of Swift's ABI, and which Foundation reads in
/// the same way to validate the key paths of predicates:
///
///     class, reference counts, KVC string     3 words
///     header                                  1 word; bits 0 ..< 24 are the size of what follows
///     steps                                   each but the last is followed by the type it leads to
///
/// A step begins with a header of 32 bits whose bits 24 ..< 31 are its kind. An accessor (kind 2) is a
/// word with the header, a word that identifies it, one or two functions, and, if flagged, arguments. An optional
/// step (kind 4) is the header alone. Other kinds are stored properties and future ones: they are
/// not supported here, and neither is a key path that exceeds its own size.
enum KeyPathStep: Equatable {
  /// A computed property, by the identifier that is the same wherever its key path is written.
  case accessor(kind: UInt32, identifier: UInt)
  /// `?.` in the middle.
  case chain
  /// The optional that a chain ends in.
  case wrap

  /// The steps of a key path, or `nil` if one of them is unknown.
  static func steps(of keyPath: AnyKeyPath) -> [KeyPathStep]? {
    withExtendedLifetime(keyPath) {
      unsafe KeyPathReader(UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())).steps()
    }
  }
}

/// Reads the steps of a key path, which its maker keeps alive meanwhile, and nothing beyond their size.
@safe private struct KeyPathReader {
  private static let word = MemoryLayout<UInt>.size
  private let base: UnsafeRawPointer
  private let size: Int

  init(_ object: UnsafeRawPointer) {
    let header = unsafe object.load(fromByteOffset: 3 * Self.word, as: UInt32.self)
    size = Int(header & 0x00FF_FFFF)
    unsafe base = unsafe object + 4 * Self.word
  }

  func steps() -> [KeyPathStep]? {
    var steps: [KeyPathStep] = []
    var offset = 0
    while offset + MemoryLayout<UInt32>.size <= size {
      let header = unsafe base.load(fromByteOffset: offset, as: UInt32.self)
      guard let (step, end) = step(header, at: offset), end <= size else { return nil }
      steps.append(step)
      // The type that the step leads to, in the next whole word; the last step has none.
      offset = (end + Self.word - 1) / Self.word * Self.word + Self.word
    }
    return steps
  }

  private func step(_ header: UInt32, at offset: Int) -> (step: KeyPathStep, end: Int)? {
    switch (header & 0x7F00_0000) >> 24 {
    case 2:
      let isSettable = header & 0x0040_0000 != 0
      let hasArguments = header & 0x0008_0000 != 0
      var end = offset + (isSettable ? 4 : 3) * Self.word
      if hasArguments {
        guard end + 2 * Self.word <= size else { return nil }
        unsafe end += 2 * Self.word + Int(base.load(fromByteOffset: end, as: UInt.self))
      }
      guard end <= size else { return nil }
      let identifier = unsafe base.load(fromByteOffset: offset + Self.word, as: UInt.self)
      return (.accessor(kind: header & 0x0030_0000, identifier: identifier), end)
    case 4:
      let end = offset + MemoryLayout<UInt32>.size
      return switch header & 0x00FF_FFFF {
      case 0: (.chain, end)
      case 1: (.wrap, end)
      default: nil
      }
    default: return nil
    }
  }
}
