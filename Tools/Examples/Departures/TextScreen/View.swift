/// A part of a screen, made of other parts.
@MainActor @preconcurrency
public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

/// A view that knows its lines.
protocol PrimitiveView {
  @MainActor func lines(at place: Place, in environment: EnvironmentValues) -> [String]
}

extension View where Body == Never {
  public var body: Never { fatalError("\(Self.self) has lines, and no body") }
}

extension Never: View { public typealias Body = Never }

@resultBuilder
public enum ViewBuilder {
  public static func buildOptional<Part: View>(_ part: Part?) -> Part? { part }
  @MainActor public static func buildBlock<each Part: View>(_ part: repeat each Part) -> Parts<
    repeat each Part
  > {
    Parts(part: (repeat each part))
  }
}

public struct Parts<each Part: View>: View, PrimitiveView {
  let part: (repeat each Part)

  func lines(at place: Place, in environment: EnvironmentValues) -> [String] {
    var lines: [String] = []
    var number = 0
    for part in repeat each part {
      lines += place[number].lines(of: part, in: environment)
      number += 1
    }
    return lines
  }
}

extension Optional: View where Wrapped: View { public typealias Body = Never }

extension Optional: PrimitiveView where Wrapped: View {
  func lines(at place: Place, in environment: EnvironmentValues) -> [String] {
    map { place[0].lines(of: $0, in: environment) } ?? []
  }
}

public struct Text: View, PrimitiveView {
  let text: String
  public init(_ text: String) { self.text = text }
  func lines(at _: Place, in _: EnvironmentValues) -> [String] { [text] }
}

public struct VStack<Content: View>: View {
  public let body: Content
  public init(@ViewBuilder content: () -> Content) { body = content() }
}

public struct ForEach<Data: RandomAccessCollection, Content: View>: View, PrimitiveView
where Data.Element: Identifiable {
  let data: Data
  let content: (Data.Element) -> Content

  public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {
    (self.data, self.content) = (data, content)
  }

  func lines(at place: Place, in environment: EnvironmentValues) -> [String] {
    data.flatMap { place[$0.id].lines(of: content($0), in: environment) }
  }
}
