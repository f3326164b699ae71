// OpenGL's functions on the page: OpenGL ES 3 is WebGL2. (Natively: native/gui/include.)
#pragma once

#include <GLES3/gl3.h>
