public import Foundation

/// The request of `Benchmarks/run` to a group.
public struct Plan: Sendable {
  /// The heading of the report.
  public let title: String
  /// Whether fewer repetitions and smaller stores do, for a first look.
  public private(set) var isQuick = false
  /// The folder of stores; removed when the run ends.
  public private(set) var folder: URL
  private(set) var jsonFile: URL?
  private(set) var markdownFile: URL?
  private(set) var latencyFile: URL?
  private(set) var timelineFile: URL?

  /// Reads the plan from the command line.
  ///
  /// - Parameters:
  ///   - title: The heading of the report.
  ///   - arguments: `--folder FOLDER [--quick] [--json FILE] [--latencies FILE] [--timelines FILE]
  ///     [--markdown FILE]`.
  public init(title: String, arguments: [String] = CommandLine.arguments) {
    self.title = title
    folder = FileManager.default.temporaryDirectory
    var rest = arguments.dropFirst()
    while let option = rest.popFirst() {
      switch option {
      case "--quick": isQuick = true
      case "--folder": folder = Self.file(&rest, option)
      case "--json": jsonFile = Self.file(&rest, option)
      case "--latencies": latencyFile = Self.file(&rest, option)
      case "--timelines": timelineFile = Self.file(&rest, option)
      case "--markdown": markdownFile = Self.file(&rest, option)
      default: Self.refuse("unknown option \(option)")
      }
    }
  }

  /// Whether this process was asked for a first look only.
  public static let isQuickRun = CommandLine.arguments.contains("--quick")

  /// The name of the group on the command line and in results.
  public var group: String { title.lowercased() }

  /// Chooses between the number for a quick look and the one for figures to keep.
  public func choose<Value>(quick: Value, full: Value) -> Value { isQuick ? quick : full }

  private static func file(_ rest: inout ArraySlice<String>, _ option: String) -> URL {
    guard let path = rest.popFirst() else { refuse("\(option) needs a path") }
    return URL(fileURLWithPath: path)
  }

  private static func refuse(_ message: String) -> Never {
    FileHandle.standardError.write(Data("error: \(message); start Benchmarks/run\n".utf8))
    exit(64)
  }
}
