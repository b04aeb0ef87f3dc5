import LogEngineTestSupport

/// A small store, closed cleanly, whose bits are flipped.
struct FlippedStore: Sendable {
  private let trial: RotTrial
  private let files: [(path: String, byteCount: Int)]
  private let seed: UInt64

  init(seed: UInt64, stepCount: Int) throws {
    trial = try RotTrial(seed: seed, stepCount: stepCount)
    self.seed = seed
    files = trial.disk.paths.map { [disk = trial.disk] in ($0, disk.image(of: $0)?.size ?? 0) }
  }

  var bitCount: Int { files.reduce(0) { $0 + $1.byteCount * 8 } }

  /// Flips some of the bits, counted over all files.
  func flips(from first: Int, by step: Int, _ progress: Progress) -> FlipMatrix {
    var matrix = FlipMatrix()
    var bit = first
    for file in files {
      while bit < file.byteCount * 8 {
        flip(bit, of: file.path, &matrix)
        progress.advance()
        bit += step
      }
      bit -= file.byteCount * 8
    }
    return matrix
  }

  private func flip(_ bit: Int, of path: String, _ matrix: inout FlipMatrix) {
    var flipped = trial
    Damage(path: path, kind: .flip(bit: bit)).apply(to: &flipped.disk)
    let outcome = flipped.outcome(seed: seed)
    matrix.count(outcome, in: FileKind(path), place: "\(path), byte \(bit / 8), bit \(bit % 8)")
  }
}

/// The kind of a store's file, as its name tells.
enum FileKind: String, CaseIterable, Hashable, Sendable {
  case lock, manifest, segment, checkpoint, other

  init(_ path: String) {
    self =
      if path.hasSuffix("/LOCK") {
        .lock
      } else if path.contains("/manifest.") {
        .manifest
      } else if path.hasSuffix(".seg") {
        .segment
      } else if path.hasSuffix(".ckpt") {
        .checkpoint
      } else {
        .other
      }
  }
}
