import Hummingbird
import SwiftData

/// The request's context: limits, and the format of times.
struct TelemetryContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// Of a batch of readings, in bytes.
  let maxUploadSize = 1 << 20

  init(source: Source) { coreContext = .init(source: source) }

  private static let exact = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  var requestDecoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let text = try decoder.singleValueContainer().decode(String.self)
      guard let time = Self.time(text) else {
        throw DecodingError.dataCorrupted(
          .init(
            codingPath: decoder.codingPath,
            debugDescription: "expected a time as 2026-11-22T10:00:00Z; found \(text)"
          )
        )
      }
      return time
    }
    return decoder
  }

  var responseEncoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(date.formatted(Self.exact))
    }
    return encoder
  }

  /// A time with or without fractions of a second.
  static func time(_ text: String) -> Date? {
    (try? exact.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text))
  }
}

extension TelemetryService {
  /// Of one attachment, in bytes.
  static let largestFile = 16 << 20
  static let longestPage = 500

  /// The routes of the service.
  func router() -> Router<TelemetryContext> {
    let router = Router(context: TelemetryContext.self)
    router.get("/health") { _, _ in "ok" }
    addReadings(to: router)
    addDevices(to: router.group("/devices"))
    addEvents(to: router)
    return router
  }

  private func addReadings(to router: Router<TelemetryContext>) {
    router.post("/readings") { request, context in
      let readings = try await request.decode(as: [NewReading].self, context: context)
      guard readings.allSatisfy({ !$0.serial.isEmpty && !$0.metric.isEmpty && $0.value.isFinite })
      else {
        throw HTTPError(.badRequest, message: "each reading needs a serial, a metric and a value")
      }
      let stored = try await ingestor.store(readings)
      return EditedResponse(status: .created, response: StoredMessage(stored: stored))
    }
    router.get("/readings") { request, _ in
      let query = Query(request)
      let limit = try query.number("limit", in: 1...Self.longestPage, default: 50)
      do {
        return try await page(
          query.filter(),
          after: query.text("after").map { PageToken($0) },
          limit: limit
        )
      } catch let error as PageError {
        throw HTTPError(.badRequest, message: "after: \(error)")
      }
    }
    router.get("/hours") { request, _ in try await hours(Query(request).filter()) }
  }

  private func addDevices(to devices: RouterGroup<TelemetryContext>) {
    devices.get { _, _ in try await self.devices() }
    devices.patch(":serial") { request, context in
      let change = try await request.decode(as: DeviceChange.self, context: context)
      let serial = try context.parameters.require("serial")
      return try await self.change(serial, change) ? .noContent : HTTPResponse.Status.notFound
    }
    devices.put(":serial/attachments/:name") { request, context in
      let bytes = try await request.body.collect(upTo: Self.largestFile)
      let file = File(
        mediaType: request.headers[.contentType] ?? "application/octet-stream",
        bytes: Data(buffer: bytes)
      )
      let (serial, name) = try (
        context.parameters.require("serial"), context.parameters.require("name")
      )
      return try await attach(file, named: name, to: serial)
        ? .noContent : HTTPResponse.Status.notFound
    }
    devices.get(":serial/attachments/:name") { _, context in
      let (serial, name) = try (
        context.parameters.require("serial"), context.parameters.require("name")
      )
      guard let file = try await file(named: name, of: serial) else { throw HTTPError(.notFound) }
      return Response(
        status: .ok,
        headers: [.contentType: file.mediaType],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes))
      )
    }
    devices.delete(":serial/attachments/:name") { _, context in
      let (serial, name) = try (
        context.parameters.require("serial"), context.parameters.require("name")
      )
      return try await detach(name, from: serial) ? .noContent : HTTPResponse.Status.notFound
    }
  }

  private func addEvents(to router: Router<TelemetryContext>) {
    router.get("/events") { request, context in
      let feed = ReadingFeed(container: container)
      // The observer first: a save during the look-up of the place must tick, too.
      let observer = try feed.observer()
      let place: ReadingFeed.Place?
      if let id = request.headers[.lastEventID] {
        guard let known = ReadingFeed.Place(id) else {
          throw HTTPError(.badRequest, message: "Last-Event-ID is not one of this service")
        }
        place = known
      } else {
        place = try await feed.end()
      }
      return Response.events(
        of: Observations { observer.eventCounter },
        encoder: context.responseEncoder,
        state: place
      ) { writer, place in
        try await feed.write(to: &writer, from: &place)
      }
    }
    router.get("/alarms") { _, context in
      Response.events(
        of: try await alarms.changes(),
        encoder: context.responseEncoder,
        state: [ReadingMessage]?.none
      ) { writer, shown in
        let board = try await alarms.current()
        if board == shown { return try await writer.write(comment: "no change") }
        try await writer.write(board, name: "alarms")
        shown = board
      }
    }
  }
}

extension ReadingFeed {
  /// Writes what is new, and moves on.
  func write(to writer: inout EventWriter, from place: inout Place?) async throws {
    var wroteSome = false
    do {
      while true {
        let news = try await news(after: place)
        if news.isEmpty { break }
        for save in news {
          for (index, reading) in save.readings.enumerated() {
            // Only with the last reading of a save may the client continue after it.
            let isLast = index == save.readings.count - 1
            try await writer.write(
              reading,
              name: "reading",
              id: isLast ? save.place.description : nil
            )
            wroteSome = true
          }
          place = save.place
        }
      }
    } catch let error as SwiftDataError where error == .historyTokenExpired {
      // Later saves are only in the readings themselves.
      place = try await end()
      return try await writer.write(
        "read the readings again",
        name: "reset",
        id: place?.description
      )
    }
    if !wroteSome { try await writer.write(comment: "nothing new") }
  }
}
