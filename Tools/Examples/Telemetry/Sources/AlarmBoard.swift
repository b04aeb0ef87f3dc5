import SwiftData

/// The newest alarms, kept up to date by one observer for all who look at them.
@ModelActor
actor AlarmBoard {
  static let length = 20

  private var observer: ResultsObserver<Reading, Never>?

  /// The newest alarms; read again only if one came or went.
  func current() throws -> [ReadingMessage] {
    try observing().results.map(ReadingMessage.init)
  }

  /// The number of alarms on the board, now and whenever the board has changed.
  func changes() throws -> Observations<Int, Never> {
    let observer = try observing()
    return Observations { [self] in
      assertIsolated()
      return observer.results.count
    }
  }

  private func observing() throws -> ResultsObserver<Reading, Never> {
    if let observer { return observer }
    let newest = ReadingFilter(onlyAlarms: true).list(limit: AlarmBoard.length)
    let made = try ResultsObserver(fetchDescriptor: newest, modelContext: modelContext)
    observer = made
    return made
  }
}
