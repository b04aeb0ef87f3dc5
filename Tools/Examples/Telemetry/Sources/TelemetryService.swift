import SwiftData

/// The work of the service, without a word of HTTP: so a test needs neither server nor client.
struct TelemetryService: Sendable {
  let container: ModelContainer
  let ingestor: Ingestor
  let alarms: AlarmBoard

  init(_ container: ModelContainer) {
    self.container = container
    ingestor = Ingestor(modelContainer: container)
    alarms = AlarmBoard(modelContainer: container)
  }

  /// A page of the list, newest first.
  ///
  /// Its cost is that of the readings it shows, however far from the beginning they are: the index leads to the first.
  ///
  /// - Throws: `PageError` for a token that does not belong to this list.
  func page(_ filter: ReadingFilter, after token: PageToken?, limit: Int) async throws
    -> PageMessage
  {
    try await container.read { context in
      let page = try context.page(filter.list(limit: limit), after: token)
      return PageMessage(readings: page.models.map(ReadingMessage.init), next: page.next)
    }
  }

  /// Count, least, mean and greatest of each hour and metric, oldest first; measured on columns, without objects.
  func hours(_ filter: ReadingFilter) async throws -> [HourMessage] {
    try await container.read { context in
      var calendar = Calendar(identifier: .gregorian)
      calendar.timeZone = .gmt
      let groups = try context.aggregate(
        FetchDescriptor<Reading>(predicate: filter.predicate),
        by: (.calendar(\.time, .hour, in: calendar), .value(\.metric)),
        .count,
        .minimum(\.value),
        .average(\.value),
        .maximum(\.value)
      )
      var hours: [HourMessage] = []
      for ((hour, metric), (count, minimum, average, maximum)) in groups {
        guard let minimum, let average, let maximum else { continue }
        hours.append(
          HourMessage(
            hour: hour,
            metric: metric,
            count: count,
            minimum: minimum,
            average: average,
            maximum: maximum
          )
        )
      }
      return hours
    }
  }
}

// MARK: Devices

extension TelemetryService {
  /// All devices, by serial, each with its number of readings.
  func devices() async throws -> [DeviceMessage] {
    try await container.read { context in
      let counts = try context.aggregate(
        FetchDescriptor<Reading>(),
        by: \.serial,
        .count,
        .maximum(\.time)
      )
      let figures = Dictionary(uniqueKeysWithValues: counts.map { ($0.key, $0.values) })
      let devices = FetchDescriptor<Device>(sortBy: [SortDescriptor(\.serial)])
      return try context.fetch(devices).map { device in
        DeviceMessage(
          serial: device.serial,
          name: device.name,
          limit: device.limit,
          readings: figures[device.serial]?.0 ?? 0,
          latest: figures[device.serial]?.1,
          attachments: device.attachments.map(\.name).sorted()
        )
      }
    }
  }

  /// Changes a device.
  ///
  /// - Returns: Whether there is a device of that serial.
  func change(_ serial: String, _ change: DeviceChange) async throws -> Bool {
    try await container.write(author: "api") { context in
      guard let device = try context.device(serial) else { return false }
      if let name = change.name { device.name = name }
      if let limit = change.limit { device.limit = limit }
      return true
    }
  }
}

// MARK: Attachments

extension TelemetryService {
  struct File: Equatable, Sendable {
    var mediaType: String
    var bytes: Data
  }

  /// Keeps a file with a device, in the place of one of the same name.
  ///
  /// - Returns: Whether there is a device of that serial.
  func attach(_ file: File, named name: String, to serial: String) async throws -> Bool {
    try await container.write(author: "api") { context in
      guard let device = try context.device(serial) else { return false }
      if let old = try context.attachment(name, of: serial) {
        old.mediaType = file.mediaType
        old.bytes = file.bytes
      } else {
        context.insert(
          Attachment(name: name, mediaType: file.mediaType, bytes: file.bytes, device: device)
        )
      }
      return true
    }
  }

  func file(named name: String, of serial: String) async throws -> File? {
    try await container.read { context in
      try context.attachment(name, of: serial).map {
        File(mediaType: $0.mediaType, bytes: $0.bytes)
      }
    }
  }

  /// Removes a file; the store removes its bytes when nothing reads them any more.
  ///
  /// - Returns: Whether there was a file of that name.
  func detach(_ name: String, from serial: String) async throws -> Bool {
    try await container.write(author: "api") { context in
      guard let attachment = try context.attachment(name, of: serial) else { return false }
      context.delete(attachment)
      return true
    }
  }
}

extension ModelContext {
  fileprivate func device(_ serial: String) throws -> Device? {
    try fetch(FetchDescriptor<Device>(predicate: #Predicate { $0.serial == serial })).first
  }

  fileprivate func attachment(_ name: String, of serial: String) throws -> Attachment? {
    try fetch(
      FetchDescriptor<Attachment>(
        predicate: #Predicate { $0.name == name && $0.device?.serial == serial }
      )
    ).first
  }
}
