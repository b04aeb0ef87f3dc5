import Foundation
import SwiftData
import Testing

@testable import EdgeLogger

@Suite struct `The example EdgeLogger` {
  private let noon = Date(timeIntervalSince1970: 1_800_014_400)

  private func log() throws -> SampleLog {
    SampleLog(
      try ModelContainer(
        for: Sample.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
  }

  /// The samples of a text, and the lines that are none.
  private func parse(_ text: String) -> (samples: [(String, Date, Double)], refused: [Int]) {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...]
    var refused: [Int] = []
    let samples = Array(
      SampleLines(from: { lines.popFirst() }, now: { noon }) { number, _ in refused.append(number) }
    )
    return (samples, refused)
  }

  @Test func `reads lines with and without a time`() {
    let (samples, refused) = parse("kitchen,21.5\n\n cellar , 12 , 2027-01-15T08:00:00Z\n")
    #expect(samples.map(\.0) == ["kitchen", "cellar"])
    #expect(samples.map(\.1) == [noon, noon - 4 * 3600])
    #expect(samples.map(\.2) == [21.5, 12])
    #expect(refused.isEmpty)
  }

  @Test(arguments: ["kitchen", ",1", "kitchen,warm", "kitchen,1,yesterday", "kitchen,1,2,3"])
  func `leaves out a line that is no sample, and goes on`(line: String) {
    let (samples, refused) = parse("a,1\n\(line)\nb,2")
    #expect(samples.map(\.0) == ["a", "b"])
    #expect(refused == [2])
  }

  @Test func `reports each hour of each sensor`() throws {
    let log = try log()
    let samples = (0..<120).map { ("kitchen", noon + Double($0) * 60, Double($0 % 60)) }
    #expect(try log.record(samples + [("cellar", noon, 12)], commitEvery: 50) == 121)
    let hours = try log.hours(since: noon)
    #expect(hours.map(\.sensor) == ["cellar", "kitchen", "kitchen"])
    #expect(hours.map(\.hour) == [noon, noon, noon + 3600])
    #expect(hours.map(\.count) == [1, 60, 60])
    #expect(hours.map(\.average) == [12, 29.5, 29.5])
    #expect(hours.map(\.maximum) == [12, 59, 59])
  }

  @Test func `removes what is too old`() throws {
    let log = try log()
    _ = try log.record((0..<10).map { ("a", noon + Double($0), 0) })
    #expect(try log.removeSamples(before: noon + 4) == 4)
    #expect(try log.hours(since: .distantPast).map(\.count) == [6])
  }
}
