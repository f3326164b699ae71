# shellcheck shell=bash disable=SC2034,SC2154
# Dear ImGui: Debian 13's source tarball, unpacked into the cache, by version. Native and wasm builds compile it
# (cmake/imgui.cmake); its library packages have other versions and are native only.

# Sets imgui_home: its folder in the cache. On a system whose packages are not Debian's its owner
# provides the sources and names their folder in DRIFTSCOPE_IMGUI.
place_imgui() {
  imgui_version=$(pinned_version imgui)
  imgui_home=$cache/imgui-${imgui_version%+*}  # without Debian's "+ds": sources that it repacked
  [[ $system != unknown ]] || imgui_home=${DRIFTSCOPE_IMGUI:-$imgui_home}
}

imgui_is_ready() { [[ -f $imgui_home/imgui.h && -f $imgui_home/backends/imgui_impl_glfw.cpp ]]; }

# Written under a temporary name and renamed, so that a file with its name is complete.
prepare_imgui() {
  imgui_is_ready && return
  if [[ $system == unknown ]]; then
    warn "Dear ImGui's sources are missing: see tools/setup.d/imgui.sh, and name their folder in" \
      'DRIFTSCOPE_IMGUI; without them there is no driftscope gui'
    return
  fi
  local new=$imgui_home.new
  rm -rf "$new" "$imgui_home"
  step 'fetching the sources of Dear ImGui into the cache' fetch_sources "$new" imgui ||
    not_fetched $? 'the sources of imgui (Debian 13)'
  mv "$new/imgui" "$imgui_home" && rm -rf "$new"
}
