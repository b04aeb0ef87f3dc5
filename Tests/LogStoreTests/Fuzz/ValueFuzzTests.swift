import Foundation
import LogEngineTestSupport
import ModelRuntime
import RowFormat
import Testing

/// What the layer of the models decodes: structured values, and tokens and identifiers that apps kept.
@Suite struct `Fuzzing values of models` {
  private struct Shape: Codable, Equatable {
    var name: String
    var sides: [Int]
    var size: Double?
    var when: Date
    var more: [String: [Bool]]
  }

  private static let shape = Shape(
    name: "triangle",
    sides: [1, 2, 3],
    size: 2.5,
    when: Date(timeIntervalSinceReferenceDate: 7),
    more: ["a": [true], "b": [false, true]]
  )

  private func mutated(_ sample: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    if random.oneIn(6) { return ByteMutation.noise(upTo: 200, using: &random) }
    var bytes = sample
    ByteMutation.mutate(&bytes, using: &random)
    return bytes
  }

  @Test(.enabled(if: FuzzRun.isAsked)) func `finds no structured value that traps`() throws {
    guard let run = FuzzRun("structured", count: 5000) else { return }
    var buffer = ByteBuffer(capacity: 256)
    _ = try StructuredCoding.encode(Self.shape, into: &buffer)
    let sample = buffer.bytes.withUnsafeBytes { Array($0) }
    let failures = run.run { random in
      let bytes = mutated(sample, &random)
      _ = StructuredValue(bytes.span.bytes)?["more"]
      _ = try? StructuredCoding.decode(Shape.self, from: bytes.span.bytes)
      _ = try? StructuredCoding.decode([String].self, from: bytes.span.bytes)
      _ = try? StructuredCoding.decode([Int: Data].self, from: bytes.span.bytes)
    }
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }

  @Test(.enabled(if: FuzzRun.isAsked)) func `finds no token or identifier that traps`() throws {
    guard let run = FuzzRun("tokens", count: 3000) else { return }
    let samples = [
      #"{"store":"x","value":7}"#, #"["x",7]"#, #"{"tokenValue":{"x":7}}"#,
      #"{"implementation":{"primaryKey":"p1","uriRepresentation":"x-coredata://A/B/p1"}}"#,
    ]
    let failures = run.run { random in
      let sample = samples.randomElement(using: &random) ?? ""
      let data = Data(mutated(Array(sample.utf8), &random))
      _ = try? JSONDecoder().decode(DefaultHistoryToken.self, from: data)
      _ = try? JSONDecoder().decode(PersistentIdentifier.self, from: data)
    }
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }
}
