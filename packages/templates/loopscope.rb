# Homebrew formula.
class Loopscope < Formula
  desc "Simulates Kubernetes' control loops: an API server, scenarios and pictures"
  homepage "https://your.site/loopscope/"
  version "{{version}}"
  license any_of: ["MIT", "Apache-2.0"]

  # {{if aarch64-apple-darwin}}
  on_macos do
    on_arm do
      url "{{url}}"
      sha256 "{{sha256}}"
    end
  end
  # {{end}}
  # {{if x86_64-apple-darwin}}
  on_macos do
    on_intel do
      url "{{url}}"
      sha256 "{{sha256}}"
    end
  end
  # {{end}}
  # {{if aarch64-unknown-linux-gnu}}
  on_linux do
    on_arm do
      url "{{url}}"
      sha256 "{{sha256}}"
    end
  end
  # {{end}}
  # {{if x86_64-unknown-linux-gnu}}
  on_linux do
    on_intel do
      url "{{url}}"
      sha256 "{{sha256}}"
    end
  end
  # {{end}}

  def install
    bin.install "bin/loopscope"
    (share/"loopscope").install "share/loopscope/page"
    man1.install "share/man/man1/loopscope.1"
    bash_completion.install "share/bash-completion/completions/loopscope"
    zsh_completion.install "share/zsh/site-functions/_loopscope"
    fish_completion.install "share/fish/vendor_completions.d/loopscope.fish"
  end

  test do
    assert_match "loopscope #{version}", shell_output("#{bin}/loopscope version")
  end
end
