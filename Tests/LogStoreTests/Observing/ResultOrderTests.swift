import Foundation
import SwiftData
import Testing

@testable import ModelRuntime

@Suite struct `The keys of results in order` {
  private typealias Live = LiveResults<Volume, String>

  private let context: ModelContext
  private let volumes: [Volume]
  private let live: Live

  init() throws {
    context = ModelContext(try makeShelves())
    volumes = (0..<400).map { Volume("\($0)", pages: $0) }
    for volume in volumes { context.insert(volume) }
    try context.save()
    live = try LiveResults(
      FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.pages)]),
      sectionedBy: nil,
      in: context,
      isolation: nil
    )
  }

  /// Where the list of free keys is in memory.
  private var place: UInt? {
    live.order?.free.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
  }

  /// How often the list of free keys is moved in memory while models are changed, one by one.
  private func countMoves(
    of volumes: some Sequence<Volume>,
    _ change: (Volume) -> Void
  ) throws -> Int {
    var moves = 0
    for volume in volumes {
      let former = place
      change(volume)
      _ = live.seen
      #expect(live.error == nil)
      if place != former { moves += 1 }
    }
    return moves
  }

  @Test func `are given back without copying those that are free`() throws {
    // It grows, and is not copied.
    #expect(try countMoves(of: volumes[..<200]) { context.delete($0) } <= 10)
    #expect(try countMoves(of: volumes[200..<300]) { $0.pages += 1000 } == 0)
    #expect(try countMoves(of: volumes[300...]) { $0.pages = $0.pages } == 0)
    #expect(
      live.seen.tree.map { $0.model(as: Volume.self).pages } == Array(300..<400)
        + Array(1200..<1300)
    )
  }
}
