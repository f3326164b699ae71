// OpenGL's functions natively: those that ImGui's backend has loaded. (For the page: web/gui/include.)
#pragma once

#include <imgui_impl_opengl3_loader.h>
