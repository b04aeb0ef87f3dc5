import Foundation
import Harness

/// Tiny programs, from their start to the first row they read: what they link is part of the figure.
struct ProcessStart {
  private let plan: Plan
  private let folder: URL

  init(_ plan: Plan, _ folder: URL) {
    self.plan = plan
    self.folder = folder
  }

  func run(_ report: Report) throws {
    let programs: [(contender: Contender, name: String, settings: String)] = [
      (.floor, "StartRuntime", "a program in Swift that prints a word"),
      (.classes, "StartFoundation", "the same with Foundation, which models need"),
      (.engine, "StartEngine", "StorageEngine: a store of one row"),
      (.models, "StartModels", "ModelContainer: a store of one model"),
      (.sqlite, "StartSQLite", "SQLite's C API, from Swift: a database of one row"),
    ]
    let entrants = try programs.compactMap { contender, name, settings -> Entrant? in
      let program = Program(name, at: folder.appending(path: name))
      // Makes the store; who has none takes no part.
      guard try program.run() == "row" else { return nil }
      return Entrant(.processStart, contender, settings: settings) {
        var said = ""
        let sample = try timeMilliseconds { said = try program.run() }
        try WrongAnswer.check(said == "row" ? 1 : 0, is: 1, contender)
        return sample
      }
    }
    report.add(try RoundRobin(rounds: plan.choose(quick: 15, full: 51), entrants).run())
  }
}

/// A program beside this one.
private struct Program {
  private let path: String
  private let place: URL

  init(_ name: String, at place: URL) {
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    path = own.deletingLastPathComponent().appending(path: name).path
    self.place = place
  }

  /// Runs the program to its end.
  ///
  /// - Returns: The line it prints.
  /// - Throws: ``SystemError`` if it cannot be started.
  func run() throws -> String {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw SystemError(code: errno) }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addclose(&actions, ends[0])
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(path), strdup(place.path), nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, path, &actions, nil, &arguments, environ)
    close(ends[1])
    guard code == 0 else { throw SystemError(code: code) }
    var said = ""
    var bytes = [UInt8](repeating: 0, count: 64)
    while true {
      let count = read(ends[0], &bytes, bytes.count)
      if count <= 0 { break }
      said += String(decoding: bytes.prefix(count), as: UTF8.self)
    }
    var status: CInt = 0
    waitpid(process, &status, 0)
    return said.trimmingCharacters(in: .newlines)
  }

  private struct SystemError: Error {
    let code: CInt
  }
}
