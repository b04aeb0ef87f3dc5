import SwiftData

/// The samples of a device with little memory: written without objects, asked without objects.
struct SampleLog {
  let container: ModelContainer

  /// The use of the log by a program: one records, and others may read beside it.
  enum Use { case recording, reading }

  /// Opens the log.
  ///
  /// - Parameters:
  ///   - path: The store; made if there is none and it is to be recorded. Samples of the last second may be lost by a power
  ///     cut, none by a crash of the program.
  ///   - use: Whether samples are stored or read.
  /// - Throws: What opening a store throws: a path that cannot be written, or another process that records.
  init(path: String, for use: Use) throws {
    container = try ModelContainer(
      for: Sample.self,
      configurations: LogStoreConfiguration(
        "samples",
        url: URL(filePath: path),
        allowsSave: use == .recording,
        durability: .relaxed
      )
    )
  }

  init(_ container: ModelContainer) { self.container = container }

  /// Stores samples as they come.
  ///
  /// - Parameters:
  ///   - samples: Read one by one.
  ///   - step: The number of samples in a commit.
  /// - Returns: The number of samples stored.
  /// - Throws: What a commit throws; samples of earlier commits stay.
  func record(_ samples: some Sequence<(String, Date, Double)>, commitEvery step: Int = 1) throws
    -> Int
  {
    try ModelContext(container).batchInsert(
      Sample.self,
      \.sensor,
      \.time,
      \.value,
      rows: samples,
      commitEvery: step
    )
    .insertedCount
  }

  /// Removes samples that are too old; compaction gives back their space.
  ///
  /// - Returns: The number of samples removed.
  /// - Throws: What a commit throws.
  func removeSamples(before time: Date) throws -> Int {
    try ModelContext(container).batchDelete(
      Sample.self,
      where: #Predicate { $0.time < time },
      commitEvery: 10_000
    )
    .deletedCount
  }

  /// The measurements of one sensor in one hour.
  struct Hour: Equatable {
    var sensor: String
    var hour: Date
    var count: Int
    var minimum: Double
    var average: Double
    var maximum: Double
  }

  /// The hours of all sensors since a time, oldest first.
  func hours(since start: Date, timeZone: TimeZone = .gmt) throws -> [Hour] {
    let samples = FetchDescriptor<Sample>(predicate: #Predicate { $0.time >= start })
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    let groups = try ModelContext(container).aggregate(
      samples,
      by: (.value(\.sensor), .calendar(\.time, .hour, in: calendar)),
      .count,
      .minimum(\.value),
      .average(\.value),
      .maximum(\.value)
    )
    var hours: [Hour] = []
    for ((sensor, hour), (count, minimum, average, maximum)) in groups {
      guard let minimum, let average, let maximum else { continue }
      hours.append(
        Hour(
          sensor: sensor,
          hour: hour,
          count: count,
          minimum: minimum,
          average: average,
          maximum: maximum
        )
      )
    }
    return hours.sorted { ($0.hour, $0.sensor) < ($1.hour, $1.sensor) }
  }
}
