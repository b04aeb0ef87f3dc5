import LogEngine
import RowFormat

/// Puts frames of an open store in the places of others, as a drive does that writes to a wrong place,
/// and reads the commits that views have pinned: each gives its own row or an error.
///
/// All frames are of one length, and each holds the same row. So but for their checksums, which know
/// where a frame belongs, one is as good as another.
enum MovedFrames {
  private static let layout = RowLayout([.integer])
  private static let row = RowReference(table: 1, key: 1)
  private static let commitCount = 24
  private static let path = "/store"

  static func run(
    seed: UInt64,
    _ random: inout SeededGenerator,
    _ result: inout CampaignResult
  ) throws {
    let fileSystem = SimulatedFileSystem(seed: seed)
    let (engine, views) = try makeStore(on: fileSystem)
    let frames = try frames(of: fileSystem.disk)
    for _ in 0..<16 {
      // Not the last: the newest state is read without a look at the frame.
      let to = Int.random(in: 1..<(frames.count - 1), using: &random)
      let from = Int.random(in: 0..<to, using: &random)
      let before = try fileSystem.disk.bytes(of: frames[to])
      fileSystem.damage(frames[to].overwritten(with: try fileSystem.disk.bytes(of: frames[from])))
      result.states.insert(fileSystem.disk.hash)
      for (number, view) in views.enumerated() {
        if let problem = problem(in: view, number) {
          result.report(.rot, seed, "frame \(from) in the place of frame \(to)", problem)
        }
      }
      fileSystem.damage(frames[to].overwritten(with: before))
    }
    try engine.close()
  }

  /// What is wrong with what a view shows of the row, which holds the number of its commit.
  private static func problem(in view: ReadView, _ expected: Int) -> Mismatch? {
    let found = try? view.withRow(row) { row, _ in layout.integer(0, in: row) }
    guard let found, found != Int64(expected) else { return nil }
    return Mismatch("the view of update \(expected) sees update \(found)")
  }

  /// Updates a row again and again, and keeps a view of each commit.
  private static func makeStore(
    on fileSystem: SimulatedFileSystem
  ) throws -> (StorageEngine, [ReadView]) {
    var options = EngineOptions()
    options.background = .caller
    options.reads = .copied
    options.longestChain = 0
    options.smallestSegment = 64 << 10
    let engine = try StorageEngine.open(at: path, options: options, fileSystem: fileSystem)
    try engine.apply([
      .addTable(name: "T"), .addColumn(table: 1, name: "n", type: .integer, isNullable: false),
      .setLayout(table: 1, columns: [1]),
    ])
    var views: [ReadView] = []
    var batch = engine.makeBatch()
    for number in 0..<commitCount {
      var writer = RowWriter()
      writer.begin(layout)
      writer.set(0, integer: Int64(number))
      _ = writer.finish()
      if number == 0 {
        batch.insert(row, layout: LayoutNumber(1), row: writer.bytes)
      } else {
        batch.update(row, layout: LayoutNumber(1), changed: .all, row: writer.bytes)
      }
      try engine.commit(&batch)
      views.append(engine.makeReadView())
    }
    return (engine, views)
  }

  /// Where the frames of the updates stand, in order.
  private static func frames(of disk: Disk) throws -> [Frame] {
    guard let path = disk.paths.first(where: { $0.hasSuffix(".seg") }),
      let image = disk.image(of: path)
    else { throw Mismatch("there is no segment") }
    let bytes = image.bytes(0..<image.size)
    var frames: [Frame] = []
    var offset = 4096
    while bytes.span.bytes.load(UInt32.self, at: offset) == 0x314D_5246 {
      let end = offset + 40 + Int(bytes.span.bytes.load(UInt32.self, at: offset + 8))
      frames.append(Frame(path: path, range: offset..<end))
      offset = end
    }
    // The catalogue and the insert are of other lengths.
    return Array(frames.dropFirst(2))
  }

  fileprivate struct Frame {
    var path: String
    var range: Range<Int>

    func overwritten(with bytes: [UInt8]) -> Damage {
      Damage(path: path, kind: .overwrite(range.lowerBound, bytes))
    }
  }
}

extension Disk {
  fileprivate func bytes(of frame: MovedFrames.Frame) throws -> [UInt8] {
    image(of: frame.path)?.bytes(frame.range) ?? []
  }
}
